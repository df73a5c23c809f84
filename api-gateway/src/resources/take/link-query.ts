import { z } from 'zod'
import { invalid, type Problem } from '../../common/errors.ts'
import { unknownNames } from '../../http/problems.ts'
import { captureOptionFields, recordOptions } from '../screenshots/options/options-body.ts'
import { isTracking } from './tracking-parameters.ts'

// The query of GET /take. It is decoded once, as form data. Options have their REST names and are texts, so each is converted to the type of its
// schema. A text that does not have the form of its type stays a text, and the schema then reports it.

/** Names that a link may have in addition to options. */
const OWN_NAMES = ['key', 'url', 'expires', 'signature', 'on_error'] as const
type OwnName = (typeof OWN_NAMES)[number]

/** The parameter that is not signed, because it is the signature. */
const SIGNATURE: OwnName = 'signature'

/** Longest query, in characters. Common proxies and servers accept 8 KiB of headers. */
export const MAX_QUERY_LENGTH = 8_000

const optionFields: Readonly<Record<string, z.ZodType>> = { ...captureOptionFields, ...recordOptions }

/** The decoded query without the names of tracking services. */
const readPairs = (text: string): [name: string, value: string][] => [...new URLSearchParams(text)].filter(([name]) => !isTracking(name))

const withoutSignature = (pairs: readonly (readonly [string, string])[]) => pairs.filter(([name]) => name !== SIGNATURE)

/** Names and values that the signature of a query covers. */
export const signedPairs = (text: string) => withoutSignature(readPairs(text))

type Converter = (text: string) => unknown

const NUMBER = /^-?\d+(\.\d+)?$/
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false }

const toNumber: Converter = (text) => (NUMBER.test(text) ? Number(text) : text)
const toBoolean: Converter = (text) => (Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : text)
const toText: Converter = (text) => text
/** An object, such as `media_features`, is given as JSON. */
const toObject: Converter = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

interface Field {
  isList: boolean
  convert: Converter
}

const CONVERTERS: Readonly<Record<string, Converter>> = {
  integer: toNumber,
  number: toNumber,
  boolean: toBoolean,
  object: toObject,
}

function toField(schema: z.ZodType): Field {
  const { type, items } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as { type?: string; items?: { type?: string } }
  const isList = type === 'array'
  return { isList, convert: CONVERTERS[(isList ? items?.type : type) ?? ''] ?? toText }
}

const fields: Readonly<Record<string, Field>> = Object.fromEntries(
  Object.entries(optionFields).map(([name, schema]) => [name, toField(schema)]),
)

/** A decoded query. */
export interface LinkQuery extends Partial<Record<OwnName, string>> {
  /** Every name and value that is signed: all except `signature` and the names of tracking services. */
  signed: readonly (readonly [string, string])[]
  /** Options with the types of their schemas, not validated yet. */
  options: Readonly<Record<string, unknown>>
}

/**
 * Decodes a query string.
 * @throws ApiError VALIDATION_ERROR that lists unknown names, and repeated names of options that are not lists
 */
export function parseLinkQuery(text: string): LinkQuery {
  if (text.length > MAX_QUERY_LENGTH) {
    const message = `the query must be at most ${MAX_QUERY_LENGTH} characters long. Create the screenshot with POST /screenshots instead.`
    throw invalid([{ path: '', code: 'too_big', message }])
  }
  const pairs = readPairs(text)
  const byName = Map.groupBy(pairs, ([name]) => name)
  const unknown = [...byName.keys()].filter((name) => !KNOWN[''].includes(name))
  const repeated = [...byName].flatMap(([name, given]) => findRepeatedProblems(name, given.length))
  const problems = [...unknownNames('', unknown, KNOWN, 'the query'), ...repeated]
  if (problems.length > 0) throw invalid(problems)
  const readOwn = (name: OwnName) => byName.get(name)?.[0]?.[1]
  const own = Object.fromEntries(OWN_NAMES.map((name) => [name, readOwn(name)]).filter(([, value]) => value !== undefined))
  const options = [...byName].flatMap(([name, given]) => {
    const field = fields[name]
    if (!field) return []
    const values = given.map(([, value]) => field.convert(value))
    return [[name, field.isList ? values : values[0]]]
  })
  return { ...own, signed: withoutSignature(pairs), options: Object.fromEntries(options) }
}

const KNOWN = { '': [...OWN_NAMES, ...Object.keys(optionFields)] }

function findRepeatedProblems(name: string, count: number): Problem[] {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (count === 1 || field?.isList || !KNOWN[''].includes(name)) return []
  return [{ path: name, code: 'duplicate', message: `${name} must be given once` }]
}
