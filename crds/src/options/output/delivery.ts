import { z } from 'zod'
import { EVENT_TYPES, type EventSubject, eventTypesOf, REQUEST_EVENTS } from '../../schema/event-types.ts'
import { EndpointUrl } from '../../schema/urls.ts'
import { misleadingRules } from '../../text/misleading-name.ts'
import { choice, declare, flag, group, integer } from '../rules/declare.ts'
import type { OptionRules } from '../rules/option-rules.ts'

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
