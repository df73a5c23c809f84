import { DEFAULT_EGRESS_RULES, type EgressRules } from '@tintype/crds/address-rules'
import type { CacheOptions } from '@tintype/crds/capture-options/cache'
import type { CaptureOptions } from '@tintype/crds/capture-options/catalogue'
import type { PrivateOptions } from '@tintype/crds/capture-options/private'
import { z } from 'zod'
import { ApiError, invalid, type Problem } from '../../errors.ts'
import { type KnownNames, toProblems } from '../common/problems.ts'
import { isObject } from '../common/read-body.ts'
import {
  captureOptionFields,
  dropUnknown,
  findCallbackProblems,
  findOptionProblems,
  omitEmpty,
  type RecordOptions,
  recordOptions,
  splitOptions,
} from '../screenshots/options-body.ts'
import { evaluateTarget, findCredentialProblems, findProxyUrlProblems, splitCredentials, splitProxy } from '../screenshots/target-url.ts'

// The body of POST /screenshots/batch (spec 4.6).

/** Addresses of one batch. */
export const MAX_URLS = 100
const OptionsBody = z.strictObject({ ...captureOptionFields, ...recordOptions })

/** The body's schema, but for the rules of addresses and contradictions between options. */
export const BatchBody = z.strictObject({
  urls: z.array(z.string()).min(1).max(MAX_URLS),
  options: OptionsBody.optional(),
  ...recordOptions,
})

const KNOWN: KnownNames = { '': Object.keys(BatchBody.shape), options: Object.keys(OptionsBody.shape) }

/** One address of a batch, and what it alone has. */
export interface BatchTarget {
  url: string
  /** Credentials that stood in it. */
  privateOptions?: PrivateOptions
}

/** What a caller asked for, in the service's own terms. */
export interface BatchRequest {
  targets: BatchTarget[]
  /** Absent when none was chosen. */
  options?: CaptureOptions
  /** Absent when none was chosen. */
  privateOptions?: PrivateOptions
  /** Absent when none was chosen. */
  cache?: CacheOptions
  /** Absent when none was chosen. */
  record?: RecordOptions
  /** Names that `Prefer: handling=lenient` dropped, as paths. */
  ignored: string[]
}

/** The addresses that will be captured, and what is wrong with those that cannot be. Of a list that is too long nothing more is said. */
function evaluateUrls(body: unknown, rules: EgressRules): { targets: BatchTarget[]; urlProblems: Problem[] } {
  const given = isObject(body) && Array.isArray(body.urls) && body.urls.length <= MAX_URLS ? (body.urls as unknown[]) : []
  const evaluated = given.map((given, index) => (typeof given === 'string' ? evaluateUrl(given, `urls[${index}]`, rules) : []))
  return {
    targets: evaluated.flatMap((result) => ('url' in result ? [result] : [])),
    urlProblems: evaluated.flatMap((result) => ('url' in result ? [] : result)),
  }
}

function evaluateUrl(given: string, path: string, rules: EgressRules): BatchTarget | Problem[] {
  const { text, credentials } = splitCredentials(given)
  const target = evaluateTarget(text, rules)
  if (!('url' in target)) return [{ path, code: target.problem.code, message: target.problem.message.replace(/^the url/, path) }]
  const problems = findCredentialProblems(credentials, path)
  return problems.length > 0 ? problems : { ...target, ...(credentials ? { privateOptions: credentials } : {}) }
}

/**
 * Reads a body. One bad address refuses the whole batch: nothing is created and nothing charged.
 * @param rules for the page's address
 * @param lenient drops unknown names instead of refusing them
 * @param webhookRules for `webhook_url`; without them it must be public
 * @throws ApiError VALIDATION_ERROR that lists every problem
 */
export function parseBatchBody(
  raw: unknown,
  rules: EgressRules,
  lenient = false,
  webhookRules: EgressRules = DEFAULT_EGRESS_RULES,
): BatchRequest {
  const ignored: string[] = []
  const { body, credentials } = splitProxy(lenient ? dropUnknown(raw, KNOWN, ignored) : raw)
  const parsed = BatchBody.safeParse(body)
  const found = parsed.success ? [] : toProblems(parsed.error.issues, KNOWN, { schema: BatchBody, body })
  const { targets, urlProblems } = evaluateUrls(body, rules)
  const { options: inner = {}, urls: _, ...outer } = parsed.data ?? {}
  const { capture: options, private: chosen, cache, record } = splitOptions(inner, outer)
  const privateOptions = { ...credentials, ...chosen }
  const problems = [
    ...found,
    ...urlProblems,
    ...findOptionProblems(options, { ...privateOptions, ...someCredentials(targets) }, cache),
    ...findProxyUrlProblems(options, rules),
    ...findMarkupProblems(options),
    ...findCallbackProblems(record, webhookRules),
  ]
  if (problems.length > 0 && problems.every(({ code }) => code === 'url_not_allowed'))
    throw new ApiError('URL_NOT_ALLOWED', problems.length === 1 ? problems[0]!.message : `${problems.length} addresses are not allowed`, {
      details: problems,
    })
  if (problems.length > 0) throw invalid(problems)
  return {
    targets,
    ignored,
    ...omitEmpty({ options, privateOptions, cache, record }),
  }
}

/** A batch is of addresses. */
const findMarkupProblems = (options: CaptureOptions): Problem[] =>
  (['html', 'markdown'] as const)
    .filter((name) => options[name] !== undefined)
    .map((name) => ({
      path: `options.${name}`,
      code: 'contradiction',
      message: `${name} takes the place of a url: send it by itself, not in a batch`,
    }))

/** What one address contradicts, all of them do. */
const someCredentials = (targets: readonly BatchTarget[]): PrivateOptions =>
  targets.find(({ privateOptions }) => privateOptions)?.privateOptions ?? {}
