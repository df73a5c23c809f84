import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { EVENT_TYPES } from '@tintype/crds/schema/event-types'
import { z } from 'zod'
import { jsonBody } from '../../http/body.ts'
import { boundedText, displayName } from '../../http/fields.ts'
import { name } from '../../http/named-schemas.ts'
import { findDuplicateProblems } from '../../http/read-body.ts'
import { findWebhookUrlProblems, MAX_WEBHOOK_URL_LENGTH } from '../shared/webhook-url.ts'
import { findSigningSecretProblems } from './signing-secret.ts'

const webhookName = displayName('Display name, at most 100 characters.')
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

export const CreateWebhookBody = name(
  'CreateWebhook',
  z
    .strictObject({
      name: webhookName,
      url,
      events,
      description: description.nullable().optional(),
      is_active: isActive.optional(),
      signing_secret: signingSecret.optional(),
    })
    .describe('A new webhook endpoint.'),
)
export type CreateWebhookBody = z.infer<typeof CreateWebhookBody>

export const UpdateWebhookBody = name(
  'UpdateWebhook',
  z
    .strictObject({
      name: webhookName.optional(),
      url: url.optional(),
      events: events.optional(),
      description: description.nullable().optional(),
      is_active: isActive.nullable().optional(),
    })
    .describe('Fields of an endpoint to change, at least one.')
    .meta({ minProperties: 1 }),
)
export type UpdateWebhookBody = z.infer<typeof UpdateWebhookBody>

interface WebhookRules {
  /** Egress rules for webhook URLs. */
  webhookRules: EgressRules
}

const findUrlProblems = (text: string | undefined, { webhookRules }: WebhookRules) =>
  text === undefined ? [] : findWebhookUrlProblems(text, webhookRules)

export const createWebhookBody = jsonBody({
  schema: CreateWebhookBody,
  examples: {
    simple: {
      summary: 'Completed and failed screenshots',
      value: { name: 'orders', url: 'https://hooks.example.com/tintype', events: ['screenshot.completed', 'screenshot.failed'] },
    },
  },
  check: (body, rules: WebhookRules) => [
    ...findUrlProblems(body.url, rules),
    ...findDuplicateProblems('events', body.events),
    ...(body.signing_secret === undefined ? [] : findSigningSecretProblems(body.signing_secret)),
  ],
})

/** Body of PATCH and PUT /webhooks/{id}. */
export const updateWebhookBody = jsonBody({
  schema: UpdateWebhookBody,
  examples: { pause: { summary: 'Deactivate the webhook', value: { is_active: false } } },
  check: (body, rules: WebhookRules) => [...findUrlProblems(body.url, rules), ...findDuplicateProblems('events', body.events)],
})
