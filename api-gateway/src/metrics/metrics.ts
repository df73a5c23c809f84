import { ignoredMetrics, instrumentsOf, reflectorMetrics, requestMetrics } from '@tintype/crds/client/probe-server'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { EXCEEDED_LIMITS } from '../bodies/budget.ts'

/** Values that are read when the metrics are scraped. */
interface MetricSources {
  downloads: () => number
  bodyBytes: () => number
  heldRequests: () => number
}

/** All metrics of the gateway. Labels have bounded sets of values. */
export function buildMetrics() {
  const registry = new Registry()
  const { counter, histogram } = instrumentsOf(registry)
  collectDefaultMetrics({ register: registry })
  const requestSeconds = histogram(
    'http_request_duration_seconds',
    'Time from the request to the end of the response, by route pattern.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ['method', 'route', 'code'],
  )
  const screenshotsCreated = counter('screenshot_created_total', 'Screenshots accepted.')
  const cacheLookUps = counter('screenshot_cache_lookups_total', 'Screenshots created with `cache`, by outcome of the cache lookup.', [
    'outcome',
  ])
  const linkRequests = counter(
    'screenshot_link_requests_total',
    'Responses to valid signed links, by outcome. `joined`: another request had started the capture.',
    ['outcome'],
  )
  const linkCaptures = counter(
    'screenshot_link_captures_total',
    'Ended captures that signed links of this gateway started, by outcome: completed or failed.',
    ['outcome'],
  )
  for (const outcome of ['completed', 'failed']) linkCaptures.inc({ outcome }, 0)
  const downloadsRefused = counter(
    'screenshot_downloads_refused_total',
    'Refused file downloads, by who has the slots: the account, the file, or others (replica).',
    ['reason'],
  )
  for (const reason of ['account', 'file', 'replica']) downloadsRefused.inc({ reason }, 0)
  const downloadsEnded = counter(
    'screenshot_downloads_ended_total',
    'Responses that the gateway ended: without progress (stalled), and file downloads below the minimum rate (slow), or for a smaller share (share).',
    ['reason'],
  )
  for (const reason of ['stalled', 'slow', 'share']) downloadsEnded.inc({ reason }, 0)
  const bodiesRefused = counter(
    'http_request_bodies_refused_total',
    'Request bodies that were refused because bodies in progress had as many bytes as allowed, by limit: total or account.',
    ['limit'],
  )
  for (const limit of EXCEEDED_LIMITS) bodiesRefused.inc({ limit }, 0)
  return {
    registry,
    requestSeconds,
    screenshotsCreated,
    cacheLookUps,
    linkRequests,
    linkCaptures,
    downloadsRefused,
    downloadsEnded,
    bodiesRefused,
    onIgnored: ignoredMetrics(registry),
    reflector: reflectorMetrics(registry),
    onKubeRequest: requestMetrics(registry),
    quota: buildQuotaMetrics(registry),
  }
}

export type Metrics = ReturnType<typeof buildMetrics>

/** Registers the gauges. */
export function addGauges({ registry }: Pick<Metrics, 'registry'>, { downloads, bodyBytes, heldRequests }: MetricSources): void {
  const { computed } = instrumentsOf(registry)
  const gauge = (name: string, help: string, read: () => number) => computed(name, help, [], (one) => one.set(read()))
  gauge('screenshot_downloads_active', 'Slots of file downloads in use.', downloads)
  gauge('http_request_body_bytes', 'Bytes of request bodies in progress, which gateway.bodyBytes limits.', bodyBytes)
  gauge('http_requests_held', 'Waits for the end of a capture: held requests, and one for each capture that a link started.', heldRequests)
}

/** Outcome of a reservation. */
export type ReservationOutcome = 'granted' | 'partial' | 'quota' | 'rate' | 'unavailable'

/** Callbacks for the metrics of the quota. */
export interface QuotaMetrics {
  onReservation: (outcome: ReservationOutcome) => void
  /** An update was written. @param waiters requests in it */
  onCommit: (waiters: number) => void
  /** An update conflicted with another writer's. */
  onConflict: () => void
}

/** Registers the metrics of the quota. */
function buildQuotaMetrics(registry: Registry): QuotaMetrics {
  const { counter, histogram } = instrumentsOf(registry)
  const help = 'Quota and rate limit reservations by outcome, including those rejected from the informer cache.'
  const reservations = counter('quota_reservations_total', help, ['outcome'])
  const commits = counter('quota_commits_total', 'Successful updates of AccountUsages.')
  const conflicts = counter('quota_conflicts_total', 'Updates of AccountUsages that failed with a conflict.')
  const waiters = histogram('quota_commit_waiters', 'Requests per update of an AccountUsage.', [0, 1, 2, 5, 10, 20, 50, 100])
  return {
    onReservation: (outcome) => reservations.inc({ outcome }),
    onConflict: () => conflicts.inc(),
    onCommit(count) {
      commits.inc()
      waiters.observe(count)
    },
  }
}
