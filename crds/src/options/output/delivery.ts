import { z } from 'zod'
import { EVENT_TYPES, type EventSubject, eventTypesOf, REQUEST_EVENTS } from '../../schema/event-types.ts'
import { EndpointUrl } from '../../schema/fields.ts'
import { withAsciiForm } from '../../text/ascii-form.ts'
import { misleadingRules } from '../../text/misleading-name.ts'
import { choice, declare, flag, formed, group, integer, NOT_IN_LINKS, type OptionRules, on } from '../rules/declare.ts'

// Options of the record, its file and the response. They are fields of a Screenshot's spec beside its options, except `async` and
// `responseType`, which are not stored.

/** File name in a Content-Disposition header. The pattern means the same to Go and JavaScript. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes control characters
const ATTACHMENT_NAME = /^[^"/\\\x00-\x1f\x7f]+$/

// The programs read existing objects with other names, so only the API server and REST refuse these.
const AttachmentName = z
  .string()
  .max(128)
  .regex(ATTACHMENT_NAME, 'must be a file name without quotes, slashes and control characters')
  .meta({ 'x-kubernetes-validations': misleadingRules('attachmentName') })

/** The events of a subject that are sent by default, as text. */
const eventsOf = (subject: EventSubject): string =>
  eventTypesOf(subject)
    .filter((type) => REQUEST_EVENTS.includes(type))
    .join(' and ')

const HEADING = [
  'Delivery',
  'Set these at the top level of a body or in its `options`. A batch does not support `async` and `response_type`. With kubectl these are fields of `spec`, and `download_url_ttl` is `downloadUrlTtlSeconds`.',
] as const
const RULES: OptionRules = { links: 'no', picture: 'no' }

/** How to deliver the picture and the record, and how long to keep them. */
export const deliveryGroup = group(HEADING, RULES, {
  async: flag({ example: false, absent: 'false if the response is the file, otherwise true' })(
    'True: the request does not wait. False: it waits until the capture ends, up to 25 seconds.',
  ),
  responseType: choice(['json', 'by_format', 'empty'], {
    example: 'by_format',
    absent: 'by_format if the header Accept prefers an image type, otherwise json',
  })('Body of the response after a wait: json is the record, by_format the file, empty none (204).'),
  attachmentName: declare(AttachmentName, { links: 'yes', example: 'front-page.png' })(
    'File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs.',
  ),
  downloadUrlTtl: integer(60, 604_800, { default: 86_400, links: 'yes' })('Lifetime of the record’s download links in seconds.'),
  retentionDays: integer(1, 365, { absent: 'the plan’s', links: 'yes' })(
    'Days to keep the files, 1 to 365, and at most the retention of the account’s plan.',
  ),
  webhookUrl: declare(EndpointUrl, { example: 'https://hooks.example.com/in' })(
    'URL that receives events of this Screenshot, in addition to registered Webhooks: https, at most 2048 characters. The account’s default Webhook signs them.',
  ),
  webhookEvents: declare(z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length).meta({ 'x-kubernetes-list-type': 'set' }), {
    absent: `${eventsOf('screenshot')}, and for a video ${eventsOf('video')}`,
    example: ['screenshot.failed'],
  })('Events to send to webhook_url.'),
  externalIdentifier: declare(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), { links: 'yes', example: 'order-1042' })(
    'Your own identifier, 1 to 64 letters, digits, - and _. The record returns it.',
  ),
})

// A copy of the file in a bucket of the caller. Disabled unless a cluster administrator allows it. The credentials are in private.ts.

/** Names that storage_path may contain in braces. */
const STORAGE_PATH_NAMES = ['id', 'host', 'date', 'format'] as const

const ENDPOINT = /^https:\/\/([-A-Za-z0-9._]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?$/
const STORAGE_HEADING = [
  'Your own bucket',
  'Available only if the chart value `capture.allowedOptions.storage` is true. The credentials are private options.',
] as const
const STORAGE_RULES = { ...NOT_IN_LINKS, policy: 'storage' } as const
const BUCKET_FORM = 'must be the name of a bucket: 3 to 63 lower-case letters, digits, - and .'
const PATH_FORM = "must have only letters, digits, spaces and the characters -!_.*'(){}/"

/** The caller's own bucket. */
export const storageGroup = group(STORAGE_HEADING, STORAGE_RULES, {
  storageBucket: formed(63, /^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$/, { form: BUCKET_FORM, example: 'acme-pictures' })(
    'Your own bucket, to which the picture is copied in addition to the bucket of this service.',
  ),
  storageEndpoint: formed(512, ENDPOINT, { form: withAsciiForm(), example: 'https://s3.eu-central-1.amazonaws.com' })(
    'URL of the S3-compatible store that has storage_bucket: https, host and port.',
  ),
  storageRegion: formed(64, /^[-A-Za-z0-9]{1,64}$/, {
    form: 'must have only letters, digits and -',
    default: 'us-east-1',
    example: 'eu-central-1',
  })('Region of storage_bucket, at most 64 characters.'),
  storagePathStyle: on(
    'Whether storage_bucket is in the path of requests. False: it is in the host name (virtual-host style), unless the endpoint is an IP address or the bucket has a dot.',
  ),
  storagePath: formed(512, /^[-A-Za-z0-9!_.*'(){}/ ]+$/, {
    form: PATH_FORM,
    default: '{id}.{format}',
    example: 'pages/{host}/{date}/{id}.{format}',
  })(
    'Key of the copy, at most 512 characters. {id}, {host}, {date} and {format} are replaced with the screenshot’s id, the page’s host, the UTC date and the format.',
  ),
})

const BRACES = /\{[^{}]*\}/g
const KNOWN: ReadonlySet<string> = new Set(STORAGE_PATH_NAMES.map((name) => `{${name}}`))

/** True for a path that stays inside the bucket and has only known names in braces. */
export const isStoragePath = (path: string): boolean =>
  (path.match(BRACES) ?? []).every((braces) => KNOWN.has(braces)) &&
  !/[{}]/.test(path.replace(BRACES, '')) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/** Options of the record and its files by their REST name. They are fields of a Screenshot's spec, and of a request, beside the capture options. */
export const RECORD_OPTIONS = {
  external_identifier: 'externalIdentifier',
  attachment_name: 'attachmentName',
  download_url_ttl: 'downloadUrlTtlSeconds',
  retention_days: 'retentionDays',
  webhook_url: 'webhookUrl',
  webhook_events: 'webhookEvents',
} as const

export type RecordOptionName = keyof typeof RECORD_OPTIONS
/** Name of the field of the spec. */
export type RecordField = (typeof RECORD_OPTIONS)[RecordOptionName]
