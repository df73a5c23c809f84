import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { CaptureOptions } from '@tintype/crds/options/catalog'
import type { AllOptions } from '@tintype/crds/options/conditions'
import { contradictions, maxViewportPixels, windowPixels } from '@tintype/crds/options/contradictions'
import { CacheOptions } from '@tintype/crds/options/output/cache'
import { deliveryGroup, RECORD_OPTIONS } from '@tintype/crds/options/output/delivery'
import { isMoving, MovingFormat, StillFormat, videoGroup } from '@tintype/crds/options/output/formats'
import { DEVICES, findDevice, toDeviceId } from '@tintype/crds/options/page/browser'
import { findForbidden, type OptionPolicy, toForbiddenMessage } from '@tintype/crds/options/policy'
import type { PrivateOptions } from '@tintype/crds/options/private'
import { type EventSubject, eventTypesOf, REQUEST_EVENTS } from '@tintype/crds/schema/event-types'
import { isMisleading, toMisleadingMessage } from '@tintype/crds/text/misleading-name'
import { findNearestName, renameKeys, toCamelCase, toSnakeCase } from '@tintype/crds/text/words'
import { z } from 'zod'
import { ApiError, invalid, type Problem } from '../../../common/errors.ts'
import type { RecordOptions, RequestedOptions } from '../../../creation/build.ts'
import { findDuplicateProblems, isObject } from '../../../http/body.ts'
import type { KnownNames } from '../../../http/problems.ts'
import { findWebhookUrlProblems, MAX_WEBHOOK_URL_LENGTH } from '../../shared/webhook-url.ts'
import { compareIgnore } from './ignore-entries.ts'
import { findPrivateOptionProblems, privateOptionFields, toPrivateOptions } from './private-options.ts'

// Common parts of the bodies of POST /screenshots and POST /screenshots/batch. Unknown fields are rejected, and values are not converted: "4" is
// not 4.

/** Egress rules for the URLs of a body, without DNS. The runner's egress proxy checks resolved addresses. */
export interface UrlRules {
  /** For pages to capture. */
  egress: EgressRules
  /** For `webhook_url`. */
  webhookRules: EgressRules
}

const { async, responseType } = deliveryGroup.options
/** Options for the response. They are never stored. */
export const requestOptions = { async: async.optional(), response_type: responseType.optional() }

const { externalIdentifier, attachmentName, downloadUrlTtlSeconds, retentionDays } = ScreenshotSpec.shape
// URLs are checked separately, so that each gets one clear error message.
const webhookUrl = z
  .string()
  .meta({ format: 'uri', maxLength: MAX_WEBHOOK_URL_LENGTH, pattern: '^https://' })
  .describe(
    'URL to which the events of this request are posted, in addition to registered endpoints: https, public, without user name, password and fragment.',
  )

function webhookEventsOf(subject: EventSubject) {
  const types = eventTypesOf(subject)
  const defaults = types.filter((type) => REQUEST_EVENTS.includes(type))
  return z
    .array(z.enum(types))
    .min(1)
    .max(types.length)
    .meta({ uniqueItems: true })
    .describe(`Events that are posted to webhook_url. Default: ${defaults.join(' and ')}.`)
    .optional()
}

/** Without the events, which depend on the kind. */
export const commonRecordOptions = {
  external_identifier: externalIdentifier,
  attachment_name: attachmentName
    .unwrap()
    .refine((text) => !isMisleading(text), { error: ({ input }) => toMisleadingMessage(String(input)) })
    .optional(),
  download_url_ttl: downloadUrlTtlSeconds,
  retention_days: retentionDays,
  webhook_url: webhookUrl.optional(),
}

/** Options for the record. They are fields of the Screenshot's spec beside its options. */
export const recordOptions = { ...commonRecordOptions, webhook_events: webhookEventsOf('screenshot') }

/** The same for videos, which have other events. */
export const videoRecordOptions = { ...commonRecordOptions, webhook_events: webhookEventsOf('video') }

const plainOptionFields = renameKeys(CaptureOptions.shape, toSnakeCase) as Record<string, z.ZodType>

const MAX_DEVICE_LENGTH = 64

/** Normalizes a device name to the spelling in the CRD. */
const DeviceName = z
  .string()
  .max(MAX_DEVICE_LENGTH)
  .transform((text, context) => {
    const device = findDevice(text)
    if (device) return device.name
    const nearest = findNearestName(
      text,
      DEVICES.map(({ name }) => toDeviceId(name)),
    )
    const message = nearest === undefined ? 'unknown device; GET /v1/devices lists the devices' : `unknown device; did you mean ${nearest}?`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
  .describe(CaptureOptions.shape.device.unwrap().description ?? '')
  .optional()

/** Fields that only one kind of captures documents. The parser accepts both, so that its errors can name the reason. */
const VIDEO_FIELDS: ReadonlySet<string> = new Set(Object.keys(videoGroup.options).map(toSnakeCase))
const SCREENSHOT_FIELD =
  /^(full_page|pdf_|thumbnail_|image_|clip_|selector(_|$)|error_on_selector_not_found$|omit_background$|optimize_for_speed$|capture_beyond_viewport$|metadata_palette$)/

/** Options of the cache by their API names. */
export const cacheFields = renameKeys(CacheOptions.shape, toSnakeCase) as Record<string, z.ZodType>

/** Capture options by their API names, including private and cache options. */
export const captureOptionFields: Record<string, z.ZodType> = {
  ...plainOptionFields,
  ...privateOptionFields,
  ...cacheFields,
  device: DeviceName,
  compare_ignore: compareIgnore,
}

const pickFields = (isOf: (name: string) => boolean): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(captureOptionFields).filter(([name]) => isOf(name)))

/** The options of a screenshot in the OpenAPI document. */
export const screenshotOptionFields: Record<string, z.ZodType> = {
  ...pickFields((name) => !VIDEO_FIELDS.has(name)),
  format: StillFormat.describe('Format of the file: png, jpeg, webp, avif or pdf. Default: png.').optional(),
}

/** The options of a video in the OpenAPI document, without those that have no effect on videos. */
export const videoOptionFields: Record<string, z.ZodType> = {
  ...pickFields((name) => !SCREENSHOT_FIELD.test(name)),
  format: MovingFormat.describe('Format of the file: mp4, webm or gif. Default: mp4.').optional(),
}

/** Options for the response. */
export interface ResponseOptions {
  async?: boolean
  responseType?: 'json' | 'by_format' | 'empty'
}

/** The options of a body, by kind. */
export interface SplitOptions {
  capture: CaptureOptions
  private: PrivateOptions
  cache: CacheOptions
  record: RecordOptions
  response: ResponseOptions
}

const RESPONSE_OPTION_NAMES: Readonly<Record<string, keyof ResponseOptions>> = { async: 'async', response_type: 'responseType' }

function pick(source: Record<string, unknown>, names: Readonly<Record<string, string>>): object {
  const chosen = Object.entries(names).filter(([name]) => source[name] !== undefined)
  return Object.fromEntries(chosen.map(([name, target]) => [target, source[name]]))
}

/** Splits options by kind. The top level of the body takes precedence over `options`. */
export function splitOptions(inner: Record<string, unknown>, outer: Record<string, unknown> = {}): SplitOptions {
  const both = { ...inner, ...outer }
  const of = (fields: object) => Object.fromEntries(Object.entries(inner).filter(([name]) => Object.hasOwn(fields, name)))
  return {
    capture: renameKeys(of(plainOptionFields), toCamelCase),
    cache: renameKeys(of(cacheFields), toCamelCase),
    private: toPrivateOptions(inner),
    record: pick(both, RECORD_OPTIONS),
    response: pick(both, RESPONSE_OPTION_NAMES),
  }
}

/** Removes kinds without options. */
export const omitEmpty = <Kinds extends Record<string, object>>(kinds: Kinds): Partial<Kinds> =>
  Object.fromEntries(Object.entries(kinds).filter(([, options]) => Object.keys(options).length > 0)) as Partial<Kinds>

/** Removes unknown fields and adds their paths to `ignored`. */
export function dropUnknown(body: unknown, known: KnownNames, ignored: string[], place = ''): unknown {
  if (!isObject(body)) return body
  const names = known[place] ?? []
  const kept = Object.entries(body).filter(([name]) => names.includes(name) || !ignored.push(place === '' ? name : `${place}.${name}`))
  const clean = (name: string, value: unknown) => (name === 'options' ? dropUnknown(value, known, ignored, 'options') : value)
  return Object.fromEntries(kept.map(([name, value]) => [name, clean(name, value)]))
}

/** A device's scale factor with a custom window size can exceed the pixel limit. */
function findWindowProblems(options: CaptureOptions): Problem[] {
  const limit = maxViewportPixels(options.format)
  if (options.device === undefined || windowPixels(options) <= limit) return []
  const message = `the window exceeds ${limit.toLocaleString('en-US')} device pixels with this device`
  return [{ path: 'options.device', code: 'contradiction', message }]
}

/** What a request may capture: `any` for a link, which can be both. */
export type AcceptedCapture = EventSubject | 'any'

/** Videos have endpoints of their own. */
export function findFormatProblems({ format = 'png' }: CaptureOptions, accepted: AcceptedCapture): Problem[] {
  const subject = isMoving(format) ? 'video' : 'screenshot'
  if (accepted === 'any' || accepted === subject) return []
  const message =
    subject === 'video' ? `${format} is a video: use POST /videos` : `${format} is not a video: use mp4, webm or gif, or POST /screenshots`
  return [{ path: 'options.format', code: 'contradiction', message }]
}

/** Checks that involve more than one field. */
export function findOptionProblems(options: CaptureOptions, secrets: PrivateOptions, cache: CacheOptions = {}): Problem[] {
  const all = { ...options, ...secrets, ...cache }
  const isSet = (option: keyof AllOptions): boolean => all[option] !== undefined
  const against = contradictions
    .filter(({ holds }) => holds(all))
    .map(({ paths, message }): Problem => {
      const option = paths.find((path) => isSet(path) && all[path] !== false) ?? paths.find(isSet) ?? paths[0]
      return { path: `options.${toSnakeCase(option)}`, code: 'contradiction', message }
    })
  return [...against, ...findWindowProblems(options), ...findPrivateOptionProblems(secrets)]
}

/** @throws ApiError VALIDATION_ERROR when `retention_days` exceeds the plan */
export function assertRetentionAllowed({ record }: Pick<RequestedOptions, 'record'>, planDays: number): void {
  if ((record?.retentionDays ?? 0) <= planDays) return
  throw invalid([{ path: 'retention_days', code: 'too_big', message: `retention_days must be at most ${planDays}, the limit of the plan` }])
}

export const EVENTS_WITHOUT_URL: Problem = { path: 'webhook_events', code: 'required', message: 'webhook_events needs a webhook_url' }

/** Checks `webhook_url` and `webhook_events`, without DNS. */
export function findCallbackProblems({ webhookUrl, webhookEvents }: RecordOptions, rules: EgressRules): Problem[] {
  if (webhookUrl !== undefined)
    return [...findWebhookUrlProblems(webhookUrl, rules, 'webhook_url'), ...findDuplicateProblems('webhook_events', webhookEvents)]
  return webhookEvents === undefined ? [] : [EVENTS_WITHOUT_URL]
}

/** Rejects options that the service does not allow. @throws ApiError OPTION_NOT_ALLOWED that lists them */
export function assertOptionsAllowed({ options, privateOptions }: RequestedOptions, policy: OptionPolicy): void {
  const names = findForbidden({ ...options, ...privateOptions }, policy)
  if (names.length === 0) return
  const details = names.map(
    (name): Problem => ({
      path: `options.${toSnakeCase(name)}`,
      code: 'not_allowed',
      message: `${toSnakeCase(name)} is not allowed by this service`,
    }),
  )
  throw new ApiError('OPTION_NOT_ALLOWED', toForbiddenMessage(names), { details })
}
