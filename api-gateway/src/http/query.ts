import { z } from 'zod'
import { invalid, type Problem } from '../common/errors.ts'
import { unknownNames } from './problems.ts'

// Query parameters. Each is declared once: its documentation, and the function that parses its text. It can be given once.

/** A declared query parameter. `Value` includes undefined if the parameter can be absent. */
export interface QueryParameter<Value> {
  description: string
  /** Schema for the OpenAPI document. `parse` decides what is accepted. */
  schema: z.ZodType
  example: unknown
  /** False for lists that are separated by commas. */
  explode?: false
  required?: true
  /** Returns undefined for text that is not valid. */
  parse: (text: string) => Value | undefined
  /** What the text must be, such as `true or false`. It completes the error message. */
  expected: string
  /** The value of an absent parameter. */
  fallback: Value
}

/** The query parameters of a route by name. */
export type QueryParameters = Readonly<Record<string, QueryParameter<unknown>>>

/** The parsed query of a route. */
export type QueryOf<Parameters extends QueryParameters> = {
  [Name in keyof Parameters]: Parameters[Name] extends QueryParameter<infer Value> ? Value : never
}

/** Checks that no single parameter can express. */
export type CheckQuery<Query> = (query: Query) => readonly Problem[]

/** The raw query, as Fastify parses it. */
export type RawQuery = Readonly<Record<string, unknown>>

/** Separates parameters by `&` where a URL copied from the source of an HTML page has `&amp;`. No name of a parameter begins with `amp;`. */
export function unescapeAmpersands(url = ''): string {
  const start = url.indexOf('?')
  return start < 0 ? url : url.slice(0, start) + url.slice(start).replaceAll(/&(?:amp;)+/gi, '&')
}

/**
 * Parses a query. Parameters that are absent or not valid have their fallback in `check`.
 * @throws ApiError VALIDATION_ERROR that lists every problem
 */
export function readQuery<Parameters extends QueryParameters>(
  query: RawQuery,
  parameters: Parameters,
  check: CheckQuery<QueryOf<Parameters>> = () => [],
): QueryOf<Parameters> {
  const parsed = Object.fromEntries(Object.entries(parameters).map(([name, { fallback }]) => [name, fallback]))
  const known = Object.keys(parameters)
  const unknown = Object.keys(query).filter((name) => !known.includes(name))
  const found = known.flatMap((name): Problem[] => {
    const [parameter, text] = [parameters[name], query[name]]
    if (!parameter || text === undefined) return []
    if (typeof text !== 'string') return [{ path: name, code: 'invalid_value', message: `${name} must be given once` }]
    const value = parameter.parse(text)
    if (value === undefined) return [{ path: name, code: 'invalid_value', message: `${name} must be ${parameter.expected}` }]
    parsed[name] = value
    return []
  })
  const missing = Object.entries(parameters)
    .filter(([name, { required }]) => required && !Object.hasOwn(query, name))
    .map(([name]): Problem => ({ path: name, code: 'required', message: `${name} is required` }))
  const problems = [...found, ...unknownNames('', unknown, { '': known }, 'the query'), ...missing, ...check(parsed as QueryOf<Parameters>)]
  if (problems.length > 0) throw invalid(problems)
  return parsed as QueryOf<Parameters>
}

// Builders for query parameters. A parameter without `required` and without `fallback` is undefined when it is absent.

type Declared<Value> = Omit<QueryParameter<Value>, 'fallback' | 'required'>
type Absence<Value> = { required: true } | { fallback: Value }
type Documentation = Pick<QueryParameter<unknown>, 'description' | 'example'>

/** Declares a query parameter. */
export function queryParameter<Value>(declared: Declared<Value> & Absence<Value>): QueryParameter<Value>
export function queryParameter<Value>(declared: Declared<Value>): QueryParameter<Value | undefined>
export function queryParameter<Value>(declared: Declared<Value>): QueryParameter<Value | undefined> {
  return { fallback: undefined, ...declared }
}

const DIGITS = /^\d+$/

interface Bounds extends Documentation {
  minimum: number
  maximum: number
  /** Replaces `a whole number from … to …` in the error message. */
  expected?: string
}

/** A whole number in decimal digits. */
export function wholeNumber(declared: Bounds & Absence<number>): QueryParameter<number>
export function wholeNumber(declared: Bounds): QueryParameter<number | undefined>
export function wholeNumber({ minimum, maximum, ...declared }: Bounds): QueryParameter<number | undefined> {
  return queryParameter({
    expected: `a whole number from ${minimum} to ${maximum}`,
    ...declared,
    schema: z.int().min(minimum).max(maximum),
    parse: (text) => {
      const isShort = DIGITS.test(text) && text.length <= String(maximum).length
      return isShort && Number(text) >= minimum && Number(text) <= maximum ? Number(text) : undefined
    },
  })
}

interface Choice<Value extends string> extends Documentation {
  values: readonly Value[]
  /** Replaces `… or …` in the error message. */
  expected?: string
}

/** One of several values. */
export function oneOf<const Value extends string>(declared: Choice<Value> & Absence<NoInfer<Value>>): QueryParameter<Value>
export function oneOf<const Value extends string>(declared: Choice<Value>): QueryParameter<Value | undefined>
export function oneOf<const Value extends string>({ values, ...declared }: Choice<Value>): QueryParameter<Value | undefined> {
  return queryParameter({
    expected: values.join(' or '),
    ...declared,
    schema: z.enum(values),
    parse: (text) => values.find((value) => value === text),
  })
}

/** One or more of several values, separated by commas. */
export const listOf = <const Value extends string>({ values, ...declared }: Choice<Value>): QueryParameter<readonly Value[] | undefined> =>
  queryParameter<readonly Value[]>({
    expected: `a list of ${values.join(', ')}`,
    ...declared,
    schema: z.array(z.enum(values)).min(1),
    explode: false,
    parse: (text) => {
      const given = text.split(',')
      return given.every((one): one is Value => values.some((value) => value === one)) ? given : undefined
    },
  })
