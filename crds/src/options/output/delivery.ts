import { z } from 'zod'
import { EVENT_TYPES, type EventSubject, eventTypesOf, REQUEST_EVENTS } from '../../schema/event-types.ts'
import { EndpointUrl } from '../../schema/urls.ts'
import { misleadingRules } from '../../text/misleading-name.ts'
import { option } from '../rules/option-rules.ts'

// Options of the record, its file and the response. They are fields of a Screenshot's spec beside its options, except `async` and
// `responseType`, which are not stored.

/** File name in a Content-Disposition header. The pattern means the same to Go and JavaScript. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes control characters
const ATTACHMENT_NAME = /^[^"/\\\x00-\x1f\x7f]+$/

/** The events of a subject that are sent by default, as text. */
const defaultsOf = (subject: EventSubject): string =>
  eventTypesOf(subject)
    .filter((type) => REQUEST_EVENTS.includes(type))
    .join(' and ')

/** How to deliver the picture and the record, and how long to keep them. */
export const deliveryOptions = {
  async: option(
    { links: 'no', picture: 'no' },
    z
      .boolean()
      .describe(
        'True: the request does not wait. False: it waits until the capture ends, up to 25 seconds. Default: false if the response is the file, otherwise true.',
      ),
  ),
  responseType: option(
    { links: 'no', picture: 'no' },
    z
      .enum(['json', 'by_format', 'empty'])
      .describe(
        'Body of the response after a wait: json is the record, by_format the file, empty none (204). Default: by_format if the header Accept prefers an image type, otherwise json.',
      ),
  ),
  attachmentName: option(
    { links: 'yes', picture: 'no' },
    z
      .string()
      .max(128)
      .regex(ATTACHMENT_NAME, 'must be a file name without quotes, slashes and control characters')
      // The programs read existing objects with other names, so only the API server and REST refuse these.
      .meta({ 'x-kubernetes-validations': misleadingRules('attachmentName') })
      .describe('File name for downloads, at most 128 characters. Without it, browsers show images and save PDFs. Default: none.'),
  ),
  downloadUrlTtl: option(
    { links: 'yes', picture: 'no' },
    z.int().min(60).max(604_800).describe('Lifetime of the record’s download links in seconds, 60 to 604800. Default: 86400.'),
  ),
  retentionDays: option(
    { links: 'yes', picture: 'no' },
    z
      .int()
      .min(1)
      .max(365)
      .describe('Days to keep the files, 1 to 365, and at most the retention of the account’s plan. Default: the plan’s.'),
  ),
  webhookUrl: option(
    { links: 'no', picture: 'no' },
    EndpointUrl.describe(
      'URL that receives events of this Screenshot, in addition to registered Webhooks: https, at most 2048 characters. The account’s default Webhook signs them. Default: none.',
    ),
  ),
  webhookEvents: option(
    { links: 'no', picture: 'no' },
    z
      .array(z.enum(EVENT_TYPES))
      .min(1)
      .max(EVENT_TYPES.length)
      .meta({ 'x-kubernetes-list-type': 'set' })
      .describe(`Events to send to webhook_url. Default: ${defaultsOf('screenshot')}, and for a video ${defaultsOf('video')}.`),
  ),
  externalIdentifier: option(
    { links: 'yes', picture: 'no' },
    z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .describe('Your own identifier, 1 to 64 letters, digits, - and _. The record returns it. Default: none.'),
  ),
}

export const deliveryDefaults = { async: true, responseType: 'json', downloadUrlTtl: 86_400 } as const
