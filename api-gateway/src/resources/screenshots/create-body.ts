import { DEFAULT_EGRESS_RULES, type EgressRules } from '@tintype/crds/addresses/address-rules'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { CacheOptions } from '@tintype/crds/options/output/cache'
import { MARKUP_URL } from '@tintype/crds/options/page/loading'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { z } from 'zod'
import { invalid, type Problem } from '../../common/errors.ts'
import type { RecordOptions, RequestedOptions } from '../../creation/build.ts'
import { type BodyReader, isObject, MAX_MARKUP_BODY_BYTES } from '../../http/body.ts'
import { name } from '../../http/fields.ts'
import { addProblems, type KnownNames, toProblems } from '../../http/problems.ts'
import {
  type AcceptedCapture,
  captureOptionFields,
  dropUnknown,
  findCallbackProblems,
  findFormatProblems,
  findOptionProblems,
  omitEmpty,
  type ResponseOptions,
  recordOptions,
  requestOptions,
  screenshotOptionFields,
  splitOptions,
  type UrlRules,
  videoOptionFields,
  videoRecordOptions,
} from './options/options-body.ts'
import { documentedUrl, type EvaluatedUrl, evaluateTarget, evaluateUrl, findProxyProblems, splitProxy } from './options/target-url.ts'

// The bodies of POST /screenshots and POST /videos.

// URLs are checked separately, so that each gets one clear error message.
const address = z.string().optional()
const OptionsBody = z.strictObject({ ...captureOptionFields, url: address, ...requestOptions, ...recordOptions })
const VideoOptionsBody = z.strictObject({ ...captureOptionFields, url: address, ...requestOptions, ...videoRecordOptions })

/** Schema of the body, without the checks of URLs and of contradictions between options. */
export const CreateBody = z.strictObject({ url: address, options: OptionsBody.optional(), ...requestOptions, ...recordOptions })
const VideoBody = z.strictObject({ url: address, options: VideoOptionsBody.optional(), ...requestOptions, ...videoRecordOptions })

const documentedOptions = {
  url: documentedUrl.optional().describe('URL of the page, if the top level has none.'),
  ...requestOptions,
}

/** The body in the OpenAPI document, with the rules for URLs. */
export const CreateScreenshot = name(
  'CreateScreenshot',
  CreateBody.extend({
    url: documentedUrl.optional(),
    options: z
      .strictObject({ ...screenshotOptionFields, ...documentedOptions, ...recordOptions })
      .optional()
      .describe('Capture options. All are optional. Options without a value are not stored.'),
  }).describe('A page to capture. `url` is required, here or in `options`. The one at the top level takes precedence.'),
)

/** The body of POST /videos in the OpenAPI document. */
export const CreateVideo = name(
  'CreateVideo',
  VideoBody.extend({
    url: documentedUrl.optional(),
    options: z
      .strictObject({ ...videoOptionFields, ...documentedOptions, ...videoRecordOptions })
      .optional()
      .describe('Options of the video. All are optional. Options without a value are not stored.'),
  }).describe('A page to record. `url` is required, here or in `options`. The one at the top level takes precedence.'),
)

/** The names are the same for both kinds. */
const KNOWN: KnownNames = { '': Object.keys(CreateBody.shape), options: Object.keys(OptionsBody.shape) }

/** The parsed request. */
export interface CreateRequest extends RequestedOptions, ResponseOptions {
  url: string
  /** Paths of fields that `Prefer: handling=lenient` dropped. */
  ignored: string[]
}

/** The URL and its path in the body. The top level takes precedence over `options`. */
function findAddress(body: unknown): { text: string; path: string } | undefined {
  const outer = isObject(body) ? body : {}
  const inner = isObject(outer.options) ? outer.options : {}
  if (outer.url !== undefined) return typeof outer.url === 'string' ? { text: outer.url, path: 'url' } : undefined
  return typeof inner.url === 'string' ? { text: inner.url, path: 'options.url' } : undefined
}

/** The option with the content of the page (`html` or `markdown`) and its base URL. */
function findMarkup(body: unknown): { name: string; base: unknown } | undefined {
  const inner = isObject(body) && isObject(body.options) ? body.options : {}
  const name = ['html', 'markdown'].find((option) => inner[option] !== undefined)
  return name === undefined ? undefined : { name, base: inner.html_base_url }
}

/** A request has either a URL or markup. Markup can have a base URL. */
function evaluatePage(body: unknown, problems: readonly Problem[], rules: EgressRules): EvaluatedUrl {
  const markup = findMarkup(body)
  const found = findAddress(body)
  if (!markup) return evaluateFound(found, problems, rules)
  const message = `url and ${markup.name} exclude each other: leave one of them out`
  if (found) return { url: '', problem: { path: found.path, code: 'contradiction', message } }
  return typeof markup.base === 'string' ? evaluateBase(markup.base, rules) : { url: MARKUP_URL }
}

/** A change may have neither a URL nor a base URL, and the stored page may be either. */
function evaluateChange(body: unknown, problems: readonly Problem[], rules: EgressRules): EvaluatedUrl {
  const found = findAddress(body)
  if (found) return evaluateFound(found, problems, rules)
  const base = isObject(body) && isObject(body.options) ? body.options.html_base_url : undefined
  return typeof base === 'string' ? evaluateBase(base, rules) : { url: '' }
}

function evaluateBase(base: string, rules: EgressRules): EvaluatedUrl {
  const target = evaluateTarget(base, rules)
  return 'url' in target ? target : { url: '', problem: { path: 'options.html_base_url', ...target.problem } }
}

function evaluateFound(found: ReturnType<typeof findAddress>, problems: readonly Problem[], rules: EgressRules): EvaluatedUrl {
  if (found === undefined) {
    const isReported = problems.some(({ path }) => path === '' || path === 'url' || path === 'options.url')
    const problem: Problem = {
      path: 'url',
      code: 'required',
      message: 'url is required, at the top level or in options, unless html or markdown is given',
    }
    return isReported ? { url: '' } : { url: '', problem }
  }
  return evaluateUrl(found.text, found.path, rules)
}

/** What a body with a page and its options may contain. */
export interface CaptureSchema<Body> {
  /** Fields at the top level; `url` and `options` among them. */
  schema: z.ZodType<Body>
  known: KnownNames
  /** A video is an mp4 by default. */
  accepted: AcceptedCapture
  /** True for a merge patch of a stored page: contradictions are found after the merge, and null is no value of an option. */
  isPartial?: boolean
}

/** A parsed body. If there are problems, the other fields may be incomplete. */
export interface ReadCapture<Body> {
  problems: Problem[]
  /** All fields of the body; undefined if its schema does not match. */
  fields: Body | undefined
  /** Of a partial body also the base URL; empty if it has neither. */
  url: string
  options: CaptureOptions
  /** Includes credentials from the URL and from that of the proxy. */
  privateOptions: PrivateOptions
  cache: CacheOptions
  record: RecordOptions
  response: ResponseOptions
  /** Paths of fields that `Prefer: handling=lenient` dropped. */
  ignored: string[]
}

/**
 * Reads a body with a page and its options, and finds all problems except those of `webhook_url`.
 * @param rules egress rules for the URL of the page
 * @param lenient drops unknown fields instead of rejecting them
 */
export function readCapture<Body extends Record<string, unknown>>(
  raw: unknown,
  { schema, known, accepted, isPartial = false }: CaptureSchema<Body>,
  { rules, lenient }: { rules: EgressRules; lenient: boolean },
): ReadCapture<Body> {
  const ignored: string[] = []
  const { body, credentials: proxyCredentials } = splitProxy(lenient ? dropUnknown(raw, known, ignored) : raw)
  const parsed = schema.safeParse(body)
  const found = parsed.success ? [] : toProblems(parsed.error.issues, known, { schema, body })
  const page = (isPartial ? evaluateChange : evaluatePage)(body, found, rules)
  const { options, ...outer } = (parsed.data ?? {}) as { options?: Record<string, unknown> | null }
  const inner = Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== null))
  const { capture, private: chosen, cache, record, response } = splitOptions(inner, outer)
  const captureOptions: CaptureOptions = accepted === 'video' && capture.format === undefined ? { ...capture, format: 'mp4' } : capture
  const privateOptions = { ...proxyCredentials, ...chosen, ...page.credentials }
  const problems = addProblems(found, [
    ...(page.problem ? [page.problem] : []),
    ...(isPartial ? [] : findOptionProblems(captureOptions, privateOptions, cache)),
    ...findFormatProblems(captureOptions, accepted),
    ...findProxyProblems(captureOptions, proxyCredentials, rules),
  ])
  return { problems, fields: parsed.data, url: page.url, options: captureOptions, privateOptions, cache, record, response, ignored }
}

/**
 * Reads a body.
 * @param rules egress rules for the URL of the page
 * @param lenient drops unknown fields instead of rejecting them
 * @param webhookRules egress rules for `webhook_url`, which must be public by default
 * @param accepted what the request may capture; a video is an mp4 by default
 * @throws ApiError VALIDATION_ERROR that lists every problem
 */
export function parseCreateBody(
  raw: unknown,
  rules: EgressRules,
  lenient = false,
  webhookRules: EgressRules = DEFAULT_EGRESS_RULES,
  accepted: AcceptedCapture = 'screenshot',
): CreateRequest {
  const schema = accepted === 'video' ? VideoBody : CreateBody
  const read = readCapture<Record<string, unknown>>(raw, { schema, known: KNOWN, accepted }, { rules, lenient })
  const { url, options, privateOptions, cache, record, response, ignored } = read
  const problems = [...read.problems, ...findCallbackProblems(record, webhookRules)]
  if (problems.length > 0) throw invalid(problems)
  return { url, ignored, ...omitEmpty({ options, privateOptions, cache, record }), ...response }
}

const readAs =
  (accepted: AcceptedCapture): BodyReader<CreateRequest, UrlRules>['read'] =>
  (raw, { isLenient, deps: { egress, webhookRules } }) => {
    const body = parseCreateBody(raw, egress, isLenient, webhookRules, accepted)
    return { body, ignored: body.ignored }
  }

export const createScreenshotBody: BodyReader<CreateRequest, UrlRules> = {
  schema: CreateScreenshot,
  maxBytes: MAX_MARKUP_BODY_BYTES,
  examples: {
    simple: { summary: 'Only the required field', value: { url: 'https://example.com/' } },
    fullPage: {
      summary: 'The whole page as WebP',
      value: { url: 'https://example.com/', options: { full_page: true, format: 'webp', viewport_width: 1280, viewport_height: 800 } },
    },
    cached: {
      summary: 'Reuse a picture of the last hour',
      value: { url: 'https://example.com/', options: { cache: true, cache_ttl: 3600, cache_key: 'front-page' } },
    },
    copied: {
      summary: 'Store a copy in your own bucket, if the service allows it',
      value: {
        url: 'https://example.com/',
        retention_days: 7,
        options: {
          storage_bucket: 'acme-pictures',
          storage_endpoint: 'https://s3.eu-central-1.amazonaws.com',
          storage_region: 'eu-central-1',
          storage_path: '{host}/{date}/{id}.{format}',
          storage_access_key_id: 'AKIDEXAMPLE',
          storage_secret_access_key: 'lovelace',
        },
      },
    },
    held: { summary: 'The picture in one request', value: { url: 'https://example.com/', async: false, response_type: 'by_format' } },
  },
  read: readAs('screenshot'),
}

export const createVideoBody: BodyReader<CreateRequest, UrlRules> = {
  schema: CreateVideo,
  maxBytes: MAX_MARKUP_BODY_BYTES,
  examples: {
    simple: { summary: 'Five seconds of the page as mp4', value: { url: 'https://example.com/' } },
    scroll: {
      summary: 'Scroll to the end and back',
      value: {
        url: 'https://example.com/',
        options: { video_scenario: 'scroll', video_scroll_back: true, video_duration: 12, viewport_width: 1280, viewport_height: 720 },
      },
    },
    gif: {
      summary: 'A small gif',
      value: { url: 'https://example.com/', options: { format: 'gif', video_duration: 3, video_fps: 10, video_width: 480 } },
    },
    real: {
      summary: 'As it happens, with a picture of the first frame',
      value: { url: 'https://example.com/', options: { format: 'webm', video_timing: 'real', video_poster: true } },
    },
    held: { summary: 'The video in one request', value: { url: 'https://example.com/', async: false, response_type: 'by_format' } },
  },
  read: readAs('video'),
}
