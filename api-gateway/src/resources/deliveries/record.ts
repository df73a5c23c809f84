import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import {
  type AttemptLine,
  DELIVERY_STATES,
  type DeliveryState,
  type LoggedDelivery,
  REQUEST_WEBHOOK,
} from '@tintype/crds/webhooks/deliveries'
import { z } from 'zod'
import { cursorPagination, dataBody, instantField, listBody, name, requestedBody } from '../../http/fields.ts'

/** One post of an event to an endpoint. */
const AttemptRecord = name(
  'DeliveryAttempt',
  z.object({
    number: z.int().min(1).describe('Number of the attempt from 1, as in the header X-Webhook-Attempt.'),
    manual: z.boolean().describe('True for a requested redelivery.'),
    at: instantField.describe('Start of the attempt.'),
    duration_ms: z.int().min(0).describe('Milliseconds until the status line of the response, or until the attempt failed.'),
    status_code: z.int().min(0).describe('HTTP status of the response. 0 without a response.'),
    error: z
      .string()
      .nullable()
      .describe(
        'Kind of failure: answered (the status is not 2xx), timeout, blocked, unresolved, tls, proxy, oversized (the response exceeds a limit), connection.',
      ),
    error_message: z.string().nullable(),
    response_body: z.string().nullable().describe('The first KiB of the response. Null without a response.'),
  }),
)

/** One event at one endpoint. */
export const DeliveryRecord = name(
  'Delivery',
  z.object({
    id: z.string().describe('Delivery id, prefix dlv_, as in the header X-Webhook-Delivery.'),
    event_id: z.string(),
    event_type: z.string(),
    screenshot_id: z.string(),
    status: z.enum(DELIVERY_STATES).describe('`pending` while another attempt will follow.'),
    attempt_count: z.int().min(0),
    first_attempt_at: instantField,
    last_attempt_at: instantField,
    last_status_code: z.int().min(0).describe('HTTP status of the last response. 0 without a response.'),
    attempts: z.array(AttemptRecord).describe('Attempts of the last seven days, oldest first.'),
  }),
)
export type DeliveryRecord = z.infer<typeof DeliveryRecord>

export const DeliveryFound = dataBody('DeliveryFound', DeliveryRecord, 'One delivery.')
export const DeliveryList = listBody(
  'DeliveryList',
  DeliveryRecord,
  cursorPagination(z.string()),
  'One page of deliveries, newest attempt first.',
)
export const RedeliveryAccepted = requestedBody(
  'RedeliveryAccepted',
  z.object({ delivery_id: z.string(), event_id: z.string() }),
  'The redelivery of an event is queued.',
)
export const MissedRedelivery = requestedBody(
  'MissedRedelivery',
  z.object({ missed_deliveries: z.int().min(0).describe('Number of missed deliveries, at most 10,000. All of them are repeated.') }),
  'The redelivery of the missed events is queued.',
)

const toAttempt = ({ attempt, manual = false, at, milliseconds, statusCode, outcome, detail, answer }: AttemptLine) => ({
  number: attempt,
  manual,
  at,
  duration_ms: Math.round(milliseconds),
  status_code: statusCode,
  error: outcome === 'success' ? null : outcome,
  error_message: outcome === 'success' ? null : (detail ?? null),
  response_body: answer ?? null,
})

export function toDeliveryRecord({ id, state, attempts }: LoggedDelivery): DeliveryRecord {
  const [first, last] = [attempts[0]!, attempts.at(-1)!]
  const posts = attempts.filter(({ outcome }) => outcome !== 'withdrawn')
  return {
    id,
    event_id: first.event,
    event_type: first.type,
    screenshot_id: first.screenshot,
    status: state,
    attempt_count: posts.length,
    first_attempt_at: first.at,
    last_attempt_at: (posts.at(-1) ?? last).at,
    last_status_code: (posts.at(-1) ?? last).statusCode,
    attempts: posts.map(toAttempt),
  }
}

const STATES: Readonly<Record<DeliveryEntry['state'], DeliveryState>> = { open: 'pending', ok: 'successful', failed: 'failed' }

/** After this time without an attempt, the last line of the log was lost. Retries follow within hours. */
const LOST_MILLISECONDS = 86_400_000

interface Known {
  /** The screenshot, if it is not archived. */
  live: Screenshot | undefined
  now: Date
}

/**
 * Corrects the state of a delivery with `status.deliveries`, because a crashed operator loses the last lines of the log. If the last line of a
 * delivery of an archived screenshot was lost, it counts as failed after a day, so that the client can request a redelivery.
 */
export function withDeliveryState(delivery: LoggedDelivery, { metadata, spec }: Webhook, { live, now }: Known): LoggedDelivery {
  const [first] = delivery.attempts
  if (delivery.state !== 'pending' || !first) return delivery
  const name = spec.isDefault === true ? REQUEST_WEBHOOK : metadata.name
  const entry = live?.status?.deliveries?.[first.type]?.[name]
  const isLost = now.getTime() - Date.parse(delivery.attempts.at(-1)?.at ?? '') > LOST_MILLISECONDS
  // Without an entry the first attempt is not recorded yet.
  const state = live === undefined ? (isLost ? 'failed' : 'pending') : entry === undefined ? 'pending' : STATES[entry.state]
  return { ...delivery, state }
}
