import { z } from 'zod'
import { counted, findNearestName } from '../text/words.ts'

// What is wrong with a value, in words for people. The gateway, the form of the console and the operator say the same.

/** `['options', 'wait_until', 0]` → `options.wait_until[0]`. */
export const toPath = (segments: readonly PropertyKey[]): string =>
  segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`
    return path === '' ? String(segment) : `${path}.${String(segment)}`
  }, '')

export type Issue = z.core.$ZodIssue

/** A body and its schema. They add what an issue of zod does not contain. */
export interface Reading {
  schema: z.ZodType
  body: unknown
}

export const nameOf = (path: string): string => (path === '' ? 'the body' : path)
/** Types in words. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with names and values',
  record: 'an object with names and values',
}
const typeName = (expected: string): string => TYPE_NAMES[expected] ?? `of type ${expected}`

/** False for zod's default messages, which show the regular expression or names of the body. */
const isOwnText = (message: string): boolean => !/^(Invalid |Too (big|small): |Unrecognized )/.test(message)

/** `404` and `500-511` in `HTTP statuses, such as 404 or 500-511`. */
const SAMPLE = /\bsuch as (\S+(?: or \S+)?)/

const sampleIn = (description: string | undefined): string | undefined => SAMPLE.exec(description ?? '')?.[1]?.replace(/[.,;:]$/, '')

/** A sample of the texts of a list, which people often write as numbers. */
function sampleOf({ path }: Issue, schema: z.ZodType): string {
  const sample = typeof path.at(-1) === 'number' ? sampleIn(findDescription(schema, path)) : undefined
  return sample === undefined
    ? ''
    : `, such as ${sample
        .split(' or ')
        .map((one) => JSON.stringify(one))
        .join(' or ')}`
}

/** A description that says how a value is written. Others say only what it is for. */
const FORMAT = /\bsuch as\b|\bas in\b|\bhttps?\b|ISO 8601|BCP 47|IANA|CSS color|hex value|letters, digits|\bmatches a/

/** Describes the expected format with the schema's message or description. */
function describeForm(issue: Issue, name: string, schema: z.ZodType): string {
  if (isOwnText(issue.message)) return `${name} ${issue.message}`
  const description = findDescription(schema, issue.path)
  return description === undefined || !FORMAT.test(description)
    ? `${name} has the wrong format`
    : `${name} has the wrong format. Expected: ${description}`
}

function listValues({ values, path }: Issue & { code: 'invalid_value' }, name: string, body: unknown): string {
  const message = `${name} must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  const given = valueAt(body, path)
  const names = values.filter((value) => typeof value === 'string')
  const meant = typeof given === 'string' ? findNearestName(given, names) : undefined
  return meant === undefined ? message : `${message}; did you mean ${JSON.stringify(meant)}?`
}

/** A message with the field and what it must be. Never contains the value. */
export function describeIssue(issue: Issue, name: string, { schema, body }: Reading): string {
  if (/^(invalid_type|too_)/.test(issue.code) && isOwnText(issue.message)) return `${name} ${issue.message}`
  switch (issue.code) {
    case 'invalid_type':
      return `${name} must be ${typeName(issue.expected)}${sampleOf(issue, schema)}`
    case 'too_big':
      return `${name} must be at most ${lengthOf(issue.maximum, issue.origin)}`
    case 'too_small':
      return issue.minimum === 1 && issue.origin in LENGTHS
        ? `${name} must not be empty`
        : `${name} must be at least ${lengthOf(issue.minimum, issue.origin)}`
    case 'invalid_value':
      return listValues(issue, name, body)
    case 'unrecognized_keys':
      return `${name} has an unknown name. Known names: ${namesAt(schema, issue.path).join(', ')}`
    case 'invalid_key':
      return `a name in ${describeKey(issue, schema)}`
    case 'invalid_format':
      return describeForm(issue, name, schema)
    default:
      return `${name}: ${issue.message}`
  }
}

function describeKey({ path, issues: [inner] }: Issue & { code: 'invalid_key' }, schema: z.ZodType): string {
  const parent = path.slice(0, -1)
  const message = inner?.message ?? 'Invalid key'
  return describeForm({ ...(inner as Issue), path: parent, message }, nameOf(toPath(parent)), schema)
}

/** What has a length, and of what. Numbers have none. */
const LENGTHS: Readonly<Record<string, string>> = { string: 'character', array: 'item' }

const lengthOf = (limit: number | bigint, origin: string): string => {
  const noun = LENGTHS[origin]
  return noun === undefined ? String(limit) : `${counted(limit, noun)} long`
}

/** The schema inside optional and nullable wrappers, and of the objects among alternatives. */
function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).find((one) => one instanceof z.ZodObject) ?? schema
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrap(schema.unwrap() as z.ZodType) : schema
}

const descriptionOf = (schema: z.ZodType): string | undefined => schema.description ?? unwrap(schema).description

function childOf(schema: z.ZodType, segment: PropertyKey): z.ZodType | undefined {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodObject) return inner.shape[segment as string] as z.ZodType | undefined
  if (inner instanceof z.ZodArray) return inner.element as z.ZodType
  return inner instanceof z.ZodRecord ? (inner.valueType as z.ZodType) : undefined
}

/** Description of a field, or of the closest parent that has one, without the default. */
export function findDescription(schema: z.ZodType, path: readonly PropertyKey[]): string | undefined {
  let node: z.ZodType | undefined = schema
  let found = descriptionOf(schema)
  for (const segment of path) {
    node = node && childOf(node, segment)
    found = (node && descriptionOf(node)) ?? found
  }
  return found?.replace(/ Default: [^.]*\.$/, '')
}

/** The names that the object at a path may have. */
export function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const found = path.reduce<z.ZodType | undefined>((node, segment) => node && childOf(node, segment), schema)
  const object = found && unwrap(found)
  return object instanceof z.ZodObject ? Object.keys(object.shape) : []
}

/** The issues of the alternative that a value was meant for: the one of its type. */
export function toMeantIssues(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const meant = issue.errors.find((issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0))
  return meant?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue]
}

/** The value at a path of a body, or undefined. */
export const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, segment) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, segment)
        ? (value as Record<PropertyKey, unknown>)[segment]
        : undefined,
    body,
  )
