import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { BASE64 } from '@tintype/crds/crypto/signatures'
import { createdAtOf, webhookIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import { isActive, type PostResponse, type Webhook, type WebhookStatistics } from '@tintype/crds/kinds/webhook'
import { EVENT_TYPES } from '@tintype/crds/schema/event-types'
import { z } from 'zod'
import type { Problem } from '../../common/errors.ts'
import { findDuplicateProblems, jsonBody } from '../../http/body.ts'
import { boundedText, displayName, instantField, isoOrNull, messageBody, name } from '../../http/fields.ts'
import { findWebhookUrlProblems, MAX_WEBHOOK_URL_LENGTH } from '../shared/webhook-url.ts'
import type { DeliveryCounts } from './count-deliveries.ts'

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
const activeField = z.boolean().describe('False stops deliveries. Default: true.')
const signingSecret = z.string().describe('Your own signing secret instead of a generated one: whsec_ and base64 of 24 to 64 bytes.')

export const CreateWebhookBody = name(
  'CreateWebhook',
  z
    .strictObject({
      name: webhookName,
      url,
      events,
      description: description.nullable().optional(),
      is_active: activeField.optional(),
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
      is_active: activeField.nullable().optional(),
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

/** The record of a webhook, without its secret. */
export const WebhookRecord = name(
  'Webhook',
  z.object({
    id: z.string().describe('Webhook id, prefix wh_.'),
    name: z.string(),
    url: z.string(),
    events: z.array(z.enum(EVENT_TYPES)),
    description: z.string().nullable(),
    is_active: z.boolean(),
    is_default: z
      .boolean()
      .describe(
        'True for the default webhook, which signs deliveries to the webhook_url of single requests. Nothing is posted to its own url.',
      ),
    created_at: instantField,
    updated_at: instantField,
    disabled_reason: z
      .string()
      .nullable()
      .describe(
        'Why the operator deactivated the webhook after days of failures. Null if it did not. Set is_active to true to reactivate it.',
      ),
    signing_secret_hint: z.string().nullable().describe('The end of the signing secret, to distinguish secrets.'),
  }),
)
export type WebhookRecord = z.infer<typeof WebhookRecord>

const count = z.int().min(0)

/** Deliveries since creation. Test events are not counted. */
const WebhookStatisticsRecord = z.object({
  total_deliveries: count,
  successful_deliveries: count,
  failed_deliveries: count,
  pending_deliveries: count.describe('Another attempt follows. Counts at most 10,000 of archived screenshots.'),
  missed_deliveries: count.describe('Failed deliveries that POST /webhooks/{id}/redeliver-missed repeats, at most 10,000.'),
  success_rate: z.number().min(0).max(100).nullable().describe('Percentage of the finished deliveries.'),
  average_response_time_ms: z.number().min(0).nullable(),
  last_delivery_at: instantField.nullable(),
  last_success_at: instantField.nullable(),
  last_failure_at: instantField.nullable(),
  last_status_code: count.nullable().describe('HTTP status of the last response. 0 without a response.'),
  consecutive_failures: count.describe('Failed attempts since the last success.'),
})
type WebhookStatisticsRecord = z.infer<typeof WebhookStatisticsRecord>

const WebhookWithSecret = WebhookRecord.extend({ signing_secret: z.string().describe('The signing secret. It is shown only once.') })
export const WebhookWithStatistics = WebhookRecord.extend({ statistics: WebhookStatisticsRecord })

// The stored secret is sealed, so a replayed response does not contain it.
export const CreatedWebhook = WebhookWithSecret.partial({ signing_secret: true }).describe(
  'A webhook endpoint with its signing secret. Only the first response contains the secret, a replayed response does not.',
)

export const SecretRotated = messageBody(
  'SigningSecretRotated',
  z.object({ signing_secret: z.string(), previous_secret_expires_at: instantField.nullable() }),
  'The new signing secret. It is shown only once.',
)

export function toWebhookRecord(webhook: Webhook): WebhookRecord {
  const { metadata, spec } = webhook
  const id = webhookIdOf(metadata)
  const createdAt = createdAtOf(id).toISOString()
  return {
    id,
    name: spec.name ?? metadata.name,
    url: spec.url,
    events: [...spec.events],
    description: spec.description ?? null,
    is_active: isActive(webhook),
    is_default: spec.isDefault ?? false,
    created_at: createdAt,
    updated_at: metadata.annotations?.[Annotation.updatedAt] ?? createdAt,
    disabled_reason: isActive(webhook) ? null : (metadata.annotations?.[Annotation.disabledReason] ?? null),
    signing_secret_hint: spec.signingSecrets?.[0]?.hint ?? null,
  }
}

const NONE: WebhookStatistics = { total: 0, successful: 0, failed: 0 }
const round = (value: number): number => Math.round(value * 100) / 100

/** Builds the delivery statistics of a webhook. */
export function toStatisticsRecord({ status }: Pick<Webhook, 'status'>, { pending, missed }: DeliveryCounts): WebhookStatisticsRecord {
  const counts = status?.statistics ?? NONE
  const { total, successful, failed, answers = 0, answerMilliseconds = 0 } = counts
  const ended = successful + failed
  return {
    total_deliveries: Math.max(total, ended + pending),
    successful_deliveries: successful,
    failed_deliveries: failed,
    pending_deliveries: pending,
    missed_deliveries: missed,
    success_rate: ended === 0 ? null : round((100 * successful) / ended),
    average_response_time_ms: answers === 0 ? null : round(answerMilliseconds / answers),
    last_delivery_at: isoOrNull(counts.lastDeliveryTime),
    last_success_at: isoOrNull(counts.lastSuccessTime),
    last_failure_at: isoOrNull(counts.lastFailureTime),
    last_status_code: counts.lastStatusCode ?? null,
    consecutive_failures: counts.consecutiveFailures ?? 0,
  }
}

/** Result of a test event. */
export const WebhookTestResult = name(
  'WebhookTestResult',
  z
    .object({
      success: z.boolean().describe('True when the endpoint responded with 2xx in time.'),
      message: z.string(),
      status_code: z.int().min(0).describe('HTTP status of the endpoint. 0 without a response.'),
      response_time_ms: z.int().min(0),
      error: z.string().nullable().describe('Reason of the failure.'),
      timestamp: instantField,
    })
    .describe('How the endpoint responded to a test event.'),
)
export type WebhookTestResult = z.infer<typeof WebhookTestResult>

/** Converts the operator's response. */
export const toTestResult = ({ success: isSuccess, statusCode, responseMilliseconds, error, time }: PostResponse): WebhookTestResult => ({
  success: isSuccess,
  message: isSuccess ? 'The endpoint accepted the test event' : 'The endpoint did not accept the test event',
  status_code: statusCode,
  response_time_ms: responseMilliseconds,
  error: isSuccess ? null : (error ?? 'the test failed'),
  timestamp: new Date(time).toISOString(),
})

const PREFIX = 'whsec_'
const MIN_BYTES = 24
const MAX_BYTES = 64
const PRINTABLE = /^[!-~]+$/
const SHOWN = 4

const isInRange = (bytes: number): boolean => bytes >= MIN_BYTES && bytes <= MAX_BYTES

/** Checks a client's secret: `whsec_` and base64 of 24 to 64 bytes (Standard Webhooks), or 24 to 64 printable characters. */
function findSigningSecretProblems(text: string): Problem[] {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : undefined
  const isRight =
    encoded === undefined
      ? PRINTABLE.test(text) && isInRange(text.length)
      : BASE64.test(encoded) && isInRange(Buffer.from(encoded, 'base64').length)
  if (isRight) return []
  const message = `signing_secret must be ${PREFIX} and base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes, or ${MIN_BYTES} to ${MAX_BYTES} printable characters without spaces`
  return [{ path: 'signing_secret', code: 'invalid_secret', message }]
}

/** A hint that identifies a secret: `whsec_…a1b2`. */
export const hintOf = (text: string): string => `${text.startsWith(PREFIX) ? PREFIX : ''}…${text.slice(-SHOWN)}`
