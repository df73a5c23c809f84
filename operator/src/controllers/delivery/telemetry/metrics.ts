import { instrumentsOf } from '@tintype/crds/client/probe-server'
import type { Registry } from 'prom-client'
import type { PostOutcome } from '../http/post.ts'

const POST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const LATENCY_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export type DeliveryMetrics = ReturnType<typeof createDeliveryMetrics>

/** Creates the metrics. Call it once per process. */
export function createDeliveryMetrics(registry: Registry) {
  const { counter, gauge, histogram } = instrumentsOf(registry)
  return {
    deliveries: counter('webhook_deliveries_total', 'Deliveries that ended, by result.', ['event', 'result']),
    attempts: counter('webhook_attempts_total', 'Posts by outcome.', ['event', 'outcome']),
    postSeconds: histogram(
      'webhook_delivery_duration_seconds',
      'Time from the start of a post to the status line of its response.',
      POST_BUCKETS,
      ['outcome'],
    ),
    firstAttemptSeconds: histogram(
      'webhook_first_attempt_latency_seconds',
      'Time from an event to the start of its first post to an endpoint.',
      LATENCY_BUCKETS,
      ['event'],
    ),
    openCircuits: gauge('webhook_circuits_open', 'Endpoints whose posts are paused.'),
    circuitOpenings: counter('webhook_circuit_openings_total', 'Times that posts to a failing endpoint were paused.'),
    requestedPosts: counter(
      'webhook_requested_posts_total',
      'Requested posts (tests and redeliveries) by result. They do not count as deliveries.',
      ['kind', 'result'],
    ),
  }
}

/** Counts one post, and how long it took. */
export function countPost(
  { attempts, postSeconds }: DeliveryMetrics,
  event: string,
  { isSuccess, end, durationMilliseconds }: PostOutcome,
): void {
  const outcome = isSuccess ? 'success' : end
  attempts.inc({ event, outcome })
  postSeconds.observe({ outcome }, durationMilliseconds / 1_000)
}
