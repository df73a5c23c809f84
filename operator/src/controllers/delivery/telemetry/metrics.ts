import { instrumentsOf } from '@tintype/crds/client/metrics'
import type { EventType } from '@tintype/crds/schema/event-types'
import type { PostRequest } from '@tintype/crds/webhooks/webhook-requests'
import type { Registry } from 'prom-client'
import type { PostFailure } from '../http/post.ts'

/** Outcome of one post. */
export type AttemptOutcome = 'success' | 'answered' | PostFailure

/** Metrics of deliveries. */
export interface DeliveryMetrics {
  onAttempt?(event: EventType, outcome: AttemptOutcome, seconds: number): void
  /** Called after status.deliveries was written. */
  onEnded?(event: EventType, result: 'ok' | 'failed'): void
  /** A circuit opened or closed. */
  onCircuit?(isOpen: boolean): void
  /** A requested post, a test or a redelivery, ended. */
  onRequestedPost?(kind: PostRequest['do'], isSuccess: boolean): void
  /** Seconds from the event to the start of its first attempt. */
  onFirstAttempt?(event: EventType, seconds: number): void
}

const POST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const LATENCY_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Registers the metrics; call once per process. */
export function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const { counter, gauge, histogram } = instrumentsOf(registry)
  const deliveries = counter('webhook_deliveries_total', 'Deliveries that ended, by result.', ['event', 'result'])
  const attempts = counter('webhook_attempts_total', 'Posts by outcome.', ['event', 'outcome'])
  const duration = histogram(
    'webhook_delivery_duration_seconds',
    'Time from the start of a post to the status line of its response.',
    POST_BUCKETS,
    ['outcome'],
  )
  const latency = histogram(
    'webhook_first_attempt_latency_seconds',
    'Time from an event to the start of its first post to an endpoint.',
    LATENCY_BUCKETS,
    ['event'],
  )
  const openCircuits = gauge('webhook_circuits_open', 'Endpoints whose posts are paused.')
  const openings = counter('webhook_circuit_openings_total', 'Times that posts to a failing endpoint were paused.')
  const requested = counter(
    'webhook_requested_posts_total',
    'Requested posts (tests and redeliveries) by result. They do not count as deliveries.',
    ['kind', 'result'],
  )
  return {
    onRequestedPost: (kind, isSuccess) => requested.inc({ kind, result: isSuccess ? 'ok' : 'failed' }),
    onCircuit(isOpen) {
      openCircuits.inc(isOpen ? 1 : -1)
      if (isOpen) openings.inc()
    },
    onAttempt(event, outcome, seconds) {
      attempts.inc({ event, outcome })
      duration.observe({ outcome }, seconds)
    },
    onEnded: (event, result) => deliveries.inc({ event, result }),
    onFirstAttempt: (event, seconds) => latency.observe({ event }, seconds),
  }
}
