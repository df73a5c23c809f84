import { DEFAULT_EGRESS_RULES, type EgressRules } from '@tintype/crds/addresses/address-rules'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { toSnakeCase } from '@tintype/crds/text/words'
import { z } from 'zod'
import { ApiError, invalid, type Problem } from '../../common/errors.ts'
import type { CaptureTarget, RequestedOptions } from '../../creation/build.ts'
import { type BodyReader, isObject, MAX_MARKUP_BODY_BYTES } from '../../http/body.ts'
import { name } from '../../http/fields.ts'
import { type KnownNames, toProblems } from '../../http/problems.ts'
import {
  captureOptionFields,
  dropUnknown,
  findCallbackProblems,
  findFormatProblems,
  findOptionProblems,
  omitEmpty,
  recordOptions,
  screenshotOptionFields,
  splitOptions,
  type UrlRules,
} from '../screenshots/options/options-body.ts'
import { documentedUrl, evaluateUrl, findProxyProblems, splitProxy } from '../screenshots/options/target-url.ts'

/** Maximum URLs per batch. */
export const MAX_URLS = 100
const OptionsBody = z.strictObject({ ...captureOptionFields, ...recordOptions })

/** Schema of the body, without the checks of URLs and of contradictions between options. */
export const BatchBody = z.strictObject({
  urls: z.array(z.string()).min(1).max(MAX_URLS),
  options: OptionsBody.optional(),
  ...recordOptions,
})

/** The body in the OpenAPI document, with the rules for URLs. */
export const CreateBatch = name(
  'CreateBatch',
  BatchBody.extend({
    urls: z.array(documentedUrl).min(1).max(100).describe('URLs of the pages, 1 to 100.'),
    options: z
      .strictObject({ ...screenshotOptionFields, ...recordOptions })
      .optional()
      .describe('Capture options for all pages.'),
  }).describe('Pages to capture with the same options. One invalid URL rejects the whole batch.'),
)

const KNOWN: KnownNames = { '': Object.keys(BatchBody.shape), options: Object.keys(OptionsBody.shape) }

/** The parsed request. */
export interface BatchRequest extends RequestedOptions {
  targets: CaptureTarget[]
  /** Paths of fields that `Prefer: handling=lenient` dropped. */
  ignored: string[]
}

/** The valid URLs, and the problems of the others. The URLs of a list that is too long are not checked. */
function evaluateUrls(body: unknown, rules: EgressRules): { targets: CaptureTarget[]; urlProblems: Problem[] } {
  const given = isObject(body) && Array.isArray(body.urls) && body.urls.length <= MAX_URLS ? (body.urls as unknown[]) : []
  const evaluated = given.flatMap((given, index) => (typeof given === 'string' ? evaluateUrl(given, `urls[${index}]`, rules) : []))
  return {
    targets: evaluated.flatMap(({ url, credentials, problem }) =>
      problem ? [] : { url, ...(credentials ? { privateOptions: credentials } : {}) },
    ),
    urlProblems: evaluated.flatMap(({ problem }) =>
      problem ? { ...problem, message: problem.message.replace(/^the url/, problem.path) } : [],
    ),
  }
}

/**
 * Parses a body. One invalid URL rejects the whole batch, and nothing is charged.
 * @param rules egress rules for the URL of the page
 * @param lenient drops unknown fields instead of rejecting them
 * @param webhookRules egress rules for `webhook_url`, which must be public by default
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
    ...findFormatProblems(options, 'screenshot'),
    ...findProxyProblems(options, credentials, rules),
    ...findRefusedProblems(options),
    ...findCallbackProblems(record, webhookRules),
  ]
  if (problems.length > 1 && problems.every(({ code }) => code === 'url_not_allowed'))
    throw new ApiError('URL_NOT_ALLOWED', `${problems.length} urls are not allowed`, { details: problems })
  if (problems.length > 0) throw invalid(problems)
  return { targets, ignored, ...omitEmpty({ options, privateOptions, cache, record }) }
}

/** Options that a batch cannot have: markup replaces the url, and different pages cannot be compared with one picture. */
const REFUSED = {
  html: 'html replaces the url, so a batch cannot have it: send a single request',
  markdown: 'markdown replaces the url, so a batch cannot have it: send a single request',
  compareTo: 'compare_to is not available in a batch: create each screenshot with POST /screenshots',
} as const

const findRefusedProblems = (options: CaptureOptions): Problem[] =>
  (Object.keys(REFUSED) as (keyof typeof REFUSED)[])
    .filter((name) => options[name] !== undefined)
    .map((name) => ({ path: `options.${toSnakeCase(name)}`, code: 'contradiction', message: REFUSED[name] }))

/** Credentials of any URL. They contradict the same options in all URLs. */
const someCredentials = (targets: readonly CaptureTarget[]): PrivateOptions =>
  targets.find(({ privateOptions }) => privateOptions)?.privateOptions ?? {}

export const createBatchBody: BodyReader<BatchRequest, UrlRules> = {
  schema: CreateBatch,
  maxBytes: MAX_MARKUP_BODY_BYTES,
  examples: {
    two: {
      summary: 'Two pages as JPEG',
      value: { urls: ['https://example.com/', 'https://example.org/'], options: { format: 'jpeg', image_quality: 80 } },
    },
  },
  read: (raw, { isLenient, deps: { egress, webhookRules } }) => {
    const body = parseBatchBody(raw, egress, isLenient, webhookRules)
    return { body, ignored: body.ignored }
  },
}
