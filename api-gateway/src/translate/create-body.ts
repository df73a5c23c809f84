import type { EgressRules } from '@tintype/crds/address-rules'
import { CaptureOptions } from '@tintype/crds/capture-options/catalogue'
import { contradictions } from '@tintype/crds/capture-options/contradictions'
import { renameKeys, toCamelCase, toSnakeCase } from '@tintype/crds/snake-case'
import { z } from 'zod'
import { ApiError, invalid, type Problem } from '../errors.ts'
import { type KnownNames, toProblems } from './problems.ts'
import { judgeTarget } from './target.ts'

// The body of POST /screenshots (spec 4.1). Strict: a typo must not pass silently, and nothing is converted: "4" is not 4.

/** How the caller wants the answer. About the request, not the picture: never stored (decision 2). */
const requestOptions = { async: z.boolean().optional(), response_type: z.enum(['json', 'by_format', 'empty']).optional() }

// The rules of addresses are judged apart, so that a bad one is told once and in words.
const address = z.string().optional()
const optionFields = renameKeys(CaptureOptions.shape, toSnakeCase) as Record<string, z.ZodType>
const OptionsBody = z.strictObject({ ...optionFields, url: address, ...requestOptions })
export const CreateBody = z.strictObject({ url: address, options: OptionsBody.optional(), ...requestOptions })

const KNOWN: KnownNames = { '': Object.keys(CreateBody.shape), options: Object.keys(OptionsBody.shape) }

/** What a caller asked for, in the service's own terms. */
export interface CreateRequest {
  url: string
  /** Absent when none was chosen. */
  options?: CaptureOptions
  async?: boolean
  responseType?: 'json' | 'by_format' | 'empty'
  /** Names that `Prefer: handling=lenient` dropped, as paths. */
  ignored: string[]
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Takes out what is not known, for callers that asked for it. */
function dropUnknown(body: unknown, place: string, ignored: string[]): unknown {
  if (!isObject(body)) return body
  const names = KNOWN[place] ?? []
  const kept = Object.entries(body).filter(([name]) => names.includes(name) || !ignored.push(place === '' ? name : `${place}.${name}`))
  return Object.fromEntries(kept.map(([name, value]) => [name, name === 'options' ? dropUnknown(value, 'options', ignored) : value]))
}

/** The address and where it stood: the top level wins (contract 2.2). */
function findAddress(body: unknown): { text: string; path: string } | undefined {
  const outer = isObject(body) ? body : {}
  const inner = isObject(outer.options) ? outer.options : {}
  if (outer.url !== undefined) return typeof outer.url === 'string' ? { text: outer.url, path: 'url' } : undefined
  return typeof inner.url === 'string' ? { text: inner.url, path: 'options.url' } : undefined
}

function findContradictions(options: CaptureOptions): Problem[] {
  return contradictions
    .filter(({ holds }) => holds(options))
    .map(({ option, message }) => ({ path: `options.${toSnakeCase(option)}`, code: 'contradiction', message }))
}

/** Bytes of the options as they are stored: etcd takes objects up to 1.5 MiB. */
const MAX_OPTIONS_BYTES = 1024 * 1024

function findExcess(options: CaptureOptions): Problem[] {
  if (Buffer.byteLength(JSON.stringify(options)) <= MAX_OPTIONS_BYTES) return []
  return [{ path: 'options', code: 'too_big', message: 'options must be at most 1 MiB in all' }]
}

function judgeAddress(body: unknown, problems: readonly Problem[], rules: EgressRules): { url: string; problem?: Problem } {
  const found = findAddress(body)
  if (found === undefined) {
    const isTold = problems.some(({ path }) => path === '' || path === 'url' || path === 'options.url')
    const problem = { path: 'url', code: 'required', message: 'url is required, at the top level or in options' }
    return isTold ? { url: '' } : { url: '', problem }
  }
  const target = judgeTarget(found.text, rules)
  return 'url' in target ? target : { url: '', problem: { path: found.path, ...target.fault } }
}

/**
 * Reads a body.
 * @param lenient drops unknown names instead of refusing them
 * @throws ApiError with every fault at once
 */
export function parseCreateBody(raw: unknown, rules: EgressRules, lenient = false): CreateRequest {
  const ignored: string[] = []
  const body = lenient ? dropUnknown(raw, '', ignored) : raw
  const parsed = CreateBody.safeParse(body)
  const found = parsed.success ? [] : toProblems(parsed.error.issues, KNOWN)
  const { url, problem } = judgeAddress(body, found, rules)
  const { options: chosen = {}, ...outer } = parsed.data ?? {}
  const { url: _, async: innerAsync, response_type: innerType, ...rest } = chosen
  const options: CaptureOptions = renameKeys(rest, toCamelCase)
  const problems = [...found, ...(problem ? [problem] : []), ...findContradictions(options), ...findExcess(options)]
  if (problems.length === 1 && problem?.code === 'url_not_allowed')
    throw new ApiError('URL_NOT_ALLOWED', problem.message, { details: problems })
  if (problems.length > 0) throw invalid(problems)
  const isAsync = outer.async ?? innerAsync
  const responseType = outer.response_type ?? innerType
  return {
    url,
    ignored,
    ...(Object.keys(options).length > 0 ? { options } : {}),
    ...(isAsync === undefined ? {} : { async: isAsync }),
    ...(responseType === undefined ? {} : { responseType }),
  }
}
