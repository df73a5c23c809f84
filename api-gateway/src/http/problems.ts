import type { ProblemCode } from '@tintype/crds/schema/errors'
import { z } from 'zod'
import type { Problem } from '../common/errors.ts'
import { findNearestName, NAME_SUGGESTIONS, toPlainName } from './name-suggestions.ts'

/** `['options', 'wait_until', 0]` → `options.wait_until[0]`. */
export const toPath = (segments: readonly PropertyKey[]): string =>
  segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`
    return path === '' ? String(segment) : `${path}.${String(segment)}`
  }, '')

/** Known field names by the path of their object (`''`, `options`). */
export type KnownNames = Readonly<Record<string, readonly string[]>>

const MAX_NAME_LENGTH = 64

/** The path of a field relative to an object: `options.delay`, or `delay` in the same object. */
function findElsewhere(name: string | undefined, place: string, known: KnownNames): string | undefined {
  if (name === undefined) return undefined
  if (known[place]?.includes(name)) return name
  const other = Object.keys(known).find((candidate) => known[candidate]?.includes(name))
  if (other === undefined) return undefined
  return other === '' ? name : `${other}.${name}`
}

/** The problem for an unknown field, with the closest known name in this or another object. */
export function unknownName(place: string, name: string, known: KnownNames): Problem {
  const shown = name.slice(0, MAX_NAME_LENGTH)
  const meant =
    known[place]?.find((candidate) => toPlainName(candidate) === toPlainName(name)) ??
    findElsewhere(name, place, known) ??
    findElsewhere(NAME_SUGGESTIONS.get(toPlainName(name)), place, known) ??
    findNearestName(name, known[place] ?? [])
  const message = meant === undefined ? `${shown} is not known here` : `${shown} is not known here; did you mean ${meant}?`
  return { path: toPath([...(place === '' ? [] : [place]), shown]), code: 'unknown_field', message }
}

type Issue = z.core.$ZodIssue

/** A body and its schema. They add what an issue of zod does not contain. */
export interface Reading {
  schema: z.ZodType
  body: unknown
}

const nameOf = (path: string): string => (path === '' ? 'the body' : path)
const typeName = (expected: string): string => (expected === 'int' ? 'a whole number' : `of type ${expected}`)

/** Problem codes by zod's issue codes. */
const CODES: Partial<Record<Issue['code'], ProblemCode>> = {
  invalid_type: 'invalid_type',
  too_big: 'too_big',
  too_small: 'too_small',
  invalid_format: 'invalid_format',
  invalid_key: 'invalid_format',
}

/** False for zod's default messages, which show the regular expression. */
const isOwnText = (message: string): boolean => !message.startsWith('Invalid ')

/** Describes the expected format with the schema's message or description. */
function describeForm(issue: Issue, name: string, schema: z.ZodType): string {
  if (isOwnText(issue.message)) return `${name} ${issue.message}`
  const description = findDescription(schema, issue.path)
  return description === undefined ? `${name} has the wrong format` : `${name} has the wrong format. Expected: ${description}`
}

function listValues({ values, path }: Issue & { code: 'invalid_value' }, name: string, body: unknown): string {
  const message = `${name} must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  const given = valueAt(body, path)
  const names = values.filter((value) => typeof value === 'string')
  const meant = typeof given === 'string' ? findNearestName(given, names) : undefined
  return meant === undefined ? message : `${message}; did you mean ${JSON.stringify(meant)}?`
}

/** A message with the field and what it must be. Never contains the value. */
function messageOf(issue: Issue, name: string, { schema, body }: Reading): string {
  switch (issue.code) {
    case 'invalid_type':
      return `${name} must be ${typeName(issue.expected)}`
    case 'too_big':
      return `${name} must be at most ${issue.maximum}${unitOf(issue.origin)}`
    case 'too_small':
      return `${name} must be at least ${issue.minimum}${unitOf(issue.origin)}`
    case 'invalid_value':
      return listValues(issue, name, body)
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

const unitOf = (origin: string): string => (origin === 'string' ? ' characters long' : origin === 'array' ? ' items long' : '')

/** Converts all issues of a schema to problems. */
export const toProblems = (issues: readonly Issue[], known: KnownNames, reading: Reading): Problem[] =>
  issues.flatMap((issue): Problem[] => {
    const path = toPath(issue.path)
    const name = nameOf(path)
    if (issue.code === 'unrecognized_keys') return toUnknownNames(path, issue.keys, known)
    if (valueAt(reading.body, issue.path) === undefined) return [{ path, code: 'required', message: `${name} is required` }]
    return [{ path, code: CODES[issue.code] ?? 'invalid_value', message: messageOf(issue, name, reading) }]
  })

/** Unknown names of an object that get a problem of their own. Each is compared with all known names. */
const MAX_UNKNOWN_NAMES = 50

function toUnknownNames(path: string, names: readonly string[], known: KnownNames): Problem[] {
  const problems = names.slice(0, MAX_UNKNOWN_NAMES).map((name) => unknownName(path, name, known))
  const more = names.length - problems.length
  return more === 0
    ? problems
    : [...problems, { path, code: 'unknown_field', message: `${more} more names in ${nameOf(path)} are not known` }]
}

/** The schema inside optional and nullable wrappers. */
function unwrap(schema: z.ZodType): z.ZodType {
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
  let found: string | undefined
  for (const segment of path) {
    node = node && childOf(node, segment)
    found = (node && descriptionOf(node)) ?? found
  }
  return found?.replace(/ Default: [^.]*\.$/, '')
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
