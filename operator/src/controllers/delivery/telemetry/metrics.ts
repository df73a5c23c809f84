import type { EventType } from '@tintype/crds/schema/event-types'
import type { PostRequest } from '@tintype/crds/webhooks/webhook-requests'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { PostFailure } from '../http/post.ts'

/** Outcome of one post. */
export type AttemptOutcome = 'success' | 'answered' | PostFailure

/** Metrics of deliveries. */
export interface DeliveryMetrics {
  onAttempt?(event: EventType, outcome: AttemptOutcome, seconds: number): void
  /** Called after status.deliveries was written. */
  onSettled?(event: EventType, result: 'ok' | 'failed'): void
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
  const registers = [registry]
  const deliveries = new Counter({
    name: 'webhook_deliveries_total',
    help: 'Deliveries that ended, by result.',
    labelNames: ['event', 'result'] as const,
    registers,
  })
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Posts by outcome.',
    labelNames: ['event', 'outcome'] as const,
    registers,
  })
  const duration = new Histogram({
    name: 'webhook_delivery_duration_seconds',
    help: 'Time from the start of a post to the status line of its response.',
    labelNames: ['outcome'] as const,
    buckets: POST_BUCKETS,
    registers,
  })
  const latency = new Histogram({
    name: 'webhook_first_attempt_latency_seconds',
    help: 'Time from an event to the start of its first post to an endpoint.',
    labelNames: ['event'] as const,
    buckets: LATENCY_BUCKETS,
    registers,
  })
  const openCircuits = new Gauge({ name: 'webhook_circuits_open', help: 'Endpoints whose posts are paused.', registers })
  const openings = new Counter({
    name: 'webhook_circuit_openings_total',
    help: 'Times that posts to a failing endpoint were paused.',
    registers,
  })
  const requested = new Counter({
    name: 'webhook_requested_posts_total',
    help: 'Requested posts (tests and redeliveries) by result. They do not count as deliveries.',
    labelNames: ['kind', 'result'] as const,
    registers,
  })
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
    onSettled: (event, result) => deliveries.inc({ event, result }),
    onFirstAttempt: (event, seconds) => latency.observe({ event }, seconds),
  }
}
