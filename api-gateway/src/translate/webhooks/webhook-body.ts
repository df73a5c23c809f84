import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { EVENT_TYPES } from '@tintype/crds/schema/event-types'
import { z } from 'zod'
import { ApiError } from '../../common/errors.ts'
import { boundedText } from '../../http/fields.ts'
import { findDuplicateProblems, findEmptyUpdateProblems, type ReadBody, readBody } from '../../http/read-body.ts'
import { findWebhookUrlProblems, MAX_WEBHOOK_URL_LENGTH } from '../../resources/shared/webhook-url.ts'
import { findSigningSecretProblems } from './signing-secret.ts'

// Bodies of the webhook routes.

const name = boundedText(1, 100).describe('Display name, at most 100 characters.')
// URLs are checked separately, so that each gets one clear error message.
const url = z
  .string()
  .meta({ format: 'uri', maxLength: MAX_WEBHOOK_URL_LENGTH, pattern: '^https://' })
  .describe('URL to post to: https, public, without user name, password and fragment.')
const events = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .max(EVENT_TYPES.length)
  .meta({ uniqueItems: true })
  .describe('Event types to send, at least one.')
const description = boundedText(0, 500).describe('Description, at most 500 characters.')
const isActive = z.boolean().describe('False stops deliveries. Default: true.')
const signingSecret = z.string().describe('Your own signing secret instead of a generated one: whsec_ and base64 of 24 to 64 bytes.')

export const CreateWebhookBody = z.strictObject({
  name,
  url,
  events,
  description: description.nullable().optional(),
  is_active: isActive.optional(),
  signing_secret: signingSecret.optional(),
})
export type CreateWebhookBody = z.infer<typeof CreateWebhookBody>

export const UpdateWebhookBody = z.strictObject({
  name: name.optional(),
  url: url.optional(),
  events: events.optional(),
  description: description.nullable().optional(),
  is_active: isActive.optional(),
})
export type UpdateWebhookBody = z.infer<typeof UpdateWebhookBody>

const findUrlProblems = (url: string | undefined, rules: EgressRules) => (url === undefined ? [] : findWebhookUrlProblems(url, rules))

/** A URL that is not allowed has its own error code if it is the only problem, as in POST /screenshots. */
function withUrlCode<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const details = error instanceof ApiError && Array.isArray(error.details) ? error.details : []
    const [only] = details
    if (details.length !== 1 || only.code !== 'url_not_allowed') throw error
    throw new ApiError('URL_NOT_ALLOWED', only.message, { details })
  }
}

/** @throws ApiError VALIDATION_ERROR that lists every problem */
export const parseCreateWebhook = (raw: unknown, rules: EgressRules, lenient: boolean): ReadBody<CreateWebhookBody> =>
  withUrlCode(() =>
    readBody(CreateWebhookBody, raw, {
      lenient,
      validate: ({ url, events, signing_secret }) => [
        ...findUrlProblems(url, rules),
        ...findDuplicateProblems('events', events),
        ...(signing_secret === undefined ? [] : findSigningSecretProblems(signing_secret)),
      ],
    }),
  )

/** @throws ApiError VALIDATION_ERROR that lists every problem */
export const parseUpdateWebhook = (raw: unknown, rules: EgressRules, lenient: boolean): ReadBody<UpdateWebhookBody> =>
  withUrlCode(() =>
    readBody(UpdateWebhookBody, raw, {
      lenient,
      validate: (body) => [
        ...findEmptyUpdateProblems(body),
        ...findUrlProblems(body.url, rules),
        ...findDuplicateProblems('events', body.events),
      ],
    }),
  )
