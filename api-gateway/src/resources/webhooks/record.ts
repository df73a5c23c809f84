import { createdAtOf, webhookIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import { isActive, type PostResponse, type Webhook, type WebhookStatistics } from '@tintype/crds/kinds/webhook'
import { EVENT_TYPES } from '@tintype/crds/schema/event-types'
import { z } from 'zod'
import { messageBody } from '../../http/envelopes.ts'
import { instantField, isoOrNull } from '../../http/fields.ts'
import { name } from '../../http/named-schemas.ts'
import type { DeliveryCounts } from './count-deliveries.ts'

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
export const WebhookStatisticsRecord = z.object({
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
export type WebhookStatisticsRecord = z.infer<typeof WebhookStatisticsRecord>

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
