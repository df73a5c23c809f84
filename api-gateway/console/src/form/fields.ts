import type { Collection } from '../api/client.ts'
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

const FIRST_WORD = /^[a-z]+(?![\w.:/[])/

/** A message with a capital letter. The name of an option at its beginning stays as the form shows it. */
export const toSentence = (text: string): string =>
  text.replace(FIRST_WORD, (word) => (word === 'url' || fieldsByName.has(word) ? word : word[0]?.toUpperCase() + word.slice(1)))

// What the form contains, and the request that follows from it.

export type Pair = readonly [name: string, value: string]

/** What was entered in a field: a text, chosen values, or pairs. Lists of texts are a text with one item a line. */
export type FieldInput = string | readonly string[] | readonly Pair[]

/** By REST name. Fields that are absent have their default. */
export type FormInputs = Readonly<Record<string, FieldInput>>

const isPair = (item: string | Pair): item is Pair => typeof item !== 'string'
const toItems = (input: FieldInput): readonly (string | Pair)[] => (typeof input === 'string' ? [] : input)

/** True if nothing is entered, so that the option has its default. */
export function isEmptyInput(input: FieldInput | undefined): boolean {
  if (input === undefined) return true
  if (typeof input === 'string') return input.trim() === ''
  return !toItems(input).some((item) => (isPair(item) ? item[0] !== '' : item !== ''))
}

/** A line of `compare_ignore`: a selector, or a region as JSON. */
function toIgnoreEntry(line: string): unknown {
  if (!line.trimStart().startsWith('{')) return { selector: line }
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}

const fromIgnoreEntry = (entry: { selector?: string }): string => entry.selector ?? JSON.stringify(entry)

/** The value of an input for the API, or undefined if it is empty. A number that cannot be read stays a text, so that it is reported. */
export function toValue({ option, kind }: Field, input: FieldInput | undefined): unknown {
  if (input === undefined || isEmptyInput(input)) return undefined
  if (kind === 'pairs')
    return Object.fromEntries(
      toItems(input)
        .filter(isPair)
        .filter(([name]) => name !== ''),
    )
  if (kind === 'choices') return toItems(input).filter((item) => !isPair(item))
  const text = typeof input === 'string' ? input : ''
  if (kind === 'boolean') return text === 'true'
  if (kind === 'number') return Number.isNaN(Number(text)) ? text : Number(text)
  if (kind === 'lines') {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    return option === 'compareIgnore' ? lines.map(toIgnoreEntry) : lines
  }
  return text
}

/** The input that gives a value, such as that of an option of an earlier capture. Undefined if the value cannot be entered. */
export function toInput({ option, kind }: Field, value: unknown): FieldInput | undefined {
  if (kind === 'pairs')
    return typeof value === 'object' && value !== null ? Object.entries(value).map(([name, text]): Pair => [name, String(text)]) : undefined
  if (kind === 'choices') return Array.isArray(value) ? value.map(String) : undefined
  if (option === 'compareIgnore') return Array.isArray(value) ? value.map(fromIgnoreEntry).join('\n') : undefined
  if (kind === 'lines') return Array.isArray(value) ? value.map(String).join('\n') : undefined
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
}

/** Finds what is wrong with options, by REST name. */
export type FindProblems = (
  options: Readonly<Record<string, unknown>>,
  collection: Collection,
  /** Options that are set, and whose values are not known. */
  hidden?: readonly string[],
) => { problems: ReadonlyMap<string, string>; warnings: readonly string[] }

export interface FormRequest {
  /** Where the API accepts the body. The format decides. */
  collection: Collection
  /** Body of POST /screenshots or POST /videos. */
  body: { url?: string; options: Record<string, unknown> }
  /** What must be corrected, by REST name. `url` is the page. */
  problems: ReadonlyMap<string, string>
  /** Options without effect. */
  warnings: readonly string[]
}

/** What the playground adds to each request, because it shows the duration of each step. */
const ADDED: Readonly<Record<string, unknown>> = { metadata_timings: true }

/** The request that is sent. Commands and links that people copy do not have what is added. */
export const toCaptureRequest = ({ body, ...request }: FormRequest): FormRequest => ({
  ...request,
  body: { ...body, options: { ...ADDED, ...body.options } },
})

/** Names of the options that the playground adds to a request with these. */
export const addedTo = (options: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.keys(ADDED).filter((name) => options[name] === undefined)

/** The options of a record without those that the playground added. Without `added`, another program requested the capture. */
export const withoutAdded = (options: Readonly<Record<string, unknown>>, added: readonly string[] = []): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !added.includes(name)))

function findUrlProblem(url: string, names: readonly string[]): string | undefined {
  const markup = ['html', 'markdown'].find((name) => names.includes(name))
  if (url !== '' && markup) return `url and ${markup} exclude each other: leave one of them out`
  if (url === '' && !markup) return 'Enter the URL of a page.'
  return url === '' || /^https?:\/\//i.test(url) ? undefined : 'The URL must start with https:// or http://.'
}

/**
 * The request that the form describes. Without `findProblems`, which needs the schemas of all options, only problems of the URL are reported, and the
 * API reports the others.
 * @param hidden options that are set, and whose values are not known
 */
export function toRequest(url: string, inputs: FormInputs, findProblems?: FindProblems, hidden: readonly string[] = []): FormRequest {
  const options: Record<string, unknown> = {}
  for (const [name, input] of Object.entries(inputs)) {
    const field = fieldsByName.get(name)
    const value = field && toValue(field, input)
    if (value !== undefined) options[name] = value
  }
  const collection = isMoving(String(options.format)) ? 'videos' : 'screenshots'
  const found = findProblems?.(options, collection, hidden)
  const problems = new Map(found?.problems)
  const address = url.trim()
  const urlProblem = findUrlProblem(address, [...Object.keys(options), ...hidden])
  if (urlProblem !== undefined) problems.set('url', urlProblem)
  return { collection, body: { ...(address === '' ? {} : { url: address }), options }, problems, warnings: found?.warnings ?? [] }
}

const isCut = ({ isLarge }: Field, value: unknown): boolean => isLarge && typeof value === 'string' && value.endsWith('…')

/** The inputs for the options of a record, and the names of options that must be entered again because the record hides them. */
export function toInputs(options: Readonly<Record<string, unknown>>): { inputs: FormInputs; hidden: readonly string[] } {
  const inputs: Record<string, FieldInput> = {}
  const hidden: string[] = []
  for (const [name, value] of Object.entries(options)) {
    const field = fieldsByName.get(name)
    if (!field) continue
    if (field.place === 'private' || isCut(field, value)) {
      hidden.push(name)
      continue
    }
    const input = toInput(field, value)
    // Records also have options that were given with their default.
    if (input !== undefined && input !== field.fallback) inputs[name] = input
  }
  return { inputs, hidden }
}
