import { CaptureOptions, isLarge } from '@tintype/crds/options/catalog'
import { type OptionSchema, optionGroups, toOptionSchema } from '@tintype/crds/options/groups'
import { CacheOptions } from '@tintype/crds/options/output/cache'
import { ImageFormat, MovingFormat } from '@tintype/crds/options/output/formats'
import { privateOptionNames } from '@tintype/crds/options/private'
import type { LinkRule, Option } from '@tintype/crds/options/rules/declare'
import { toSnakeCase } from '@tintype/crds/text/words'

// The fields of the form, from the catalog of options that the API itself reads. The build replaces this module by its data, so that a browser
// shows the form without the schemas.

/** How an option is entered. `long` is a text of several lines, `lines` a list with one item a line, `pairs` a map of texts. */
export type FieldKind = 'boolean' | 'choice' | 'number' | 'text' | 'long' | 'choices' | 'lines' | 'pairs'

/** Where an option belongs: to the capture, to its secrets, to the record and the response, or to the cache. */
export type FieldPlace = 'capture' | 'private' | 'delivery' | 'cache'

export interface Field {
  /** Name in the REST API, such as `full_page`. */
  name: string
  /** Name in Kubernetes, such as `fullPage`. */
  option: string
  kind: FieldKind
  place: FieldPlace
  /** Description without its default. */
  description: string
  /** The default, as a text such as `1920` or `none`. */
  fallback: string
  /** Values of `choice` and `choices`. */
  choices: readonly string[]
  isSecret: boolean
  /** Records show only the beginning of the value. */
  isLarge: boolean
  /** Whether links may have it. */
  links: LinkRule
}

export interface FieldGroup {
  title: string
  note?: string | undefined
  fields: readonly Field[]
}

/** Every option, as plain data. */
export interface Catalog {
  groups: readonly FieldGroup[]
  pictureFormats: readonly string[]
  movingFormats: readonly string[]
}

const LONG_TEXT = 2_048

function kindOf(option: string, { type, enum: values, maxLength = 0, items }: OptionSchema): FieldKind {
  if (type === 'boolean') return 'boolean'
  if (values) return 'choice'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'array') return items?.enum ? 'choices' : 'lines'
  if (type === 'object') return 'pairs'
  return maxLength > LONG_TEXT || isLarge(option) ? 'long' : 'text'
}

function placeOf(option: string): FieldPlace {
  if (privateOptionNames.includes(option)) return 'private'
  if (option in CaptureOptions.shape) return 'capture'
  return option in CacheOptions.shape ? 'cache' : 'delivery'
}

function toField(option: string, schema: Option): Field {
  const json = toOptionSchema(schema)
  const { absent, links } = schema.facts
  const isSecret = /password|secret|authorization$/i.test(option)
  return {
    name: toSnakeCase(option),
    option,
    // A secret has one line, and is not shown while it is entered.
    kind: isSecret ? 'text' : kindOf(option, json),
    place: placeOf(option),
    description: json.description?.replace(` Default: ${absent}.`, '') ?? '',
    fallback: absent,
    choices: (json.enum ?? json.items?.enum ?? []).map(String),
    isSecret,
    isLarge: isLarge(option),
    links,
  }
}

/** Every option of screenshots and videos, in the groups and the order of the documentation. */
export const catalog: Catalog = {
  groups: optionGroups.map(({ title, note, options }) => ({
    title,
    note: note?.replaceAll('`', ''),
    fields: Object.entries(options).map(([option, schema]) => toField(option, schema)),
  })),
  pictureFormats: ImageFormat.options,
  movingFormats: MovingFormat.options,
}
