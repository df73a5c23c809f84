import { catalog, type Field, type FieldGroup } from './catalog.ts'

export type { Field, FieldGroup } from './catalog.ts'

/** Every option of screenshots and videos, in groups. */
export const fieldGroups: readonly FieldGroup[] = catalog.groups

/** True for a format of pictures, which can be compared. */
export const isPicture = (format: string): boolean => catalog.pictureFormats.includes(format)

/** True for a format of videos. */
export const isMoving = (format: string): boolean => catalog.movingFormats.includes(format)

/** Every field, by its REST name. */
export const fieldsByName: ReadonlyMap<string, Field> = new Map(
  fieldGroups.flatMap(({ fields }) => fields.map((field): [string, Field] => [field.name, field])),
)

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[\s_]+/)
    .filter(Boolean)

/** The groups with the fields whose name, description or group contains all words of the search. */
export function searchGroups(search: string): readonly FieldGroup[] {
  const words = wordsOf(search)
  if (words.length === 0) return fieldGroups
  return fieldGroups
    .map((group) => ({
      ...group,
      fields: group.fields.filter(({ name, description }) => {
        const text = `${name.replaceAll('_', ' ')} ${description} ${group.title}`.toLowerCase()
        return words.every((word) => text.includes(word))
      }),
    }))
    .filter(({ fields }) => fields.length > 0)
}
