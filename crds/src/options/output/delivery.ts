import { z } from 'zod'
import { SCREENSHOT_EVENT_TYPES } from '../../schema/event-types.ts'
import { EndpointUrl } from '../../schema/urls.ts'

// Options about the record, its file and the answer, not about the picture: fields of a Screenshot's spec beside its options, but for the first
// two, which nobody keeps.

/** It goes into a Content-Disposition header. Spelled so that Go reads it as JavaScript does. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is kept out
const ATTACHMENT_NAME = /^[^"/\\\x00-\x1f\x7f]+$/

/** How picture and record come to the caller, and how long they stay. */
export const deliveryOptions = {
  async: z
    .boolean()
    .describe('False holds the request until the capture has ended, at most 25 seconds; true never holds it. Default: true.'),
  responseType: z
    .enum(['json', 'by_format', 'empty'])
    .describe('What a held request answers: json the record, by_format the file, empty nothing (204). Default: json.'),
  attachmentName: z
    .string()
    .max(128)
    .regex(ATTACHMENT_NAME, 'must be a file name without quotes, slashes and control characters')
    .describe('File name that downloads are saved under; without it the file is shown in the browser. Default: none.'),
  downloadUrlTtl: z
    .int()
    .min(60)
    .max(604_800)
    .describe('Seconds that a download link of the record is valid, 60 to 604800. Default: 86400.'),
  retentionDays: z
    .int()
    .min(1)
    .max(365)
    .describe('Days that the files are kept, 1 to 365, and no more than the account’s plan keeps them. Default: the plan’s.'),
  webhookUrl: EndpointUrl.describe(
    'Address to post events of this Screenshot to, besides registered Webhooks: https, at most 2048 characters. The account’s default Webhook signs them. Default: none.',
  ),
  webhookEvents: z
    .array(z.enum(SCREENSHOT_EVENT_TYPES))
    .min(1)
    .max(SCREENSHOT_EVENT_TYPES.length)
    .meta({ 'x-kubernetes-list-type': 'set' })
    .describe('Events that webhook_url is told of. Default: screenshot.completed and screenshot.failed.'),
  externalIdentifier: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .describe('The caller’s own name for it, 1 to 64 letters, digits, - and _; given back in the record. Default: none.'),
}

export const deliveryDefaults = { async: true, responseType: 'json', downloadUrlTtl: 86_400 } as const
