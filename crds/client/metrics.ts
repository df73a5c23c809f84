// Creates metrics, and those that each program with informer caches has.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { IGNORED_LABELS, IGNORED_METRIC, type IgnoredObjectsOptions } from '../src/records/ignored-objects.ts'
import type { RequestRecord } from './kube-http.ts'
import type { ReflectorMetrics } from './reflector.ts'

/** Buckets of times between a millisecond and a minute, in seconds. */
export const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Creates metrics in a registry. Each has a name, a help text, and the names of its labels. */
export function instrumentsOf(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string = never>(name: string, help: string, buckets: number[], labelNames: readonly Label[] = []) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    gauge: <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    /** A gauge whose values are computed at each scrape. */
    computed: <Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[],
      compute: (gauge: Gauge<Label>) => void,
    ) =>
      new Gauge({
        ...{ name, help, labelNames, registers },
        collect() {
          compute(this)
        },
      }),
  }
}

/** rest_client_…, with the names of Go operators. The time of a watch is not one of a request. */
export function requestMetrics(registry: Registry): (record: RequestRecord) => void {
  const { counter, histogram } = instrumentsOf(registry)
  const total = counter('rest_client_requests_total', 'Requests to the API server.', ['code', 'method', 'host'])
  const help = 'Time of requests to the API server.'
  const seconds = histogram('rest_client_request_duration_seconds', help, SECONDS_BUCKETS, ['verb', 'host'])
  return ({ code, method, host, verb, durationSeconds }) => {
    total.inc({ code, method, host })
    if (verb !== 'watch') seconds.observe({ verb, host }, durationSeconds)
  }
}

/** reflector_… */
export function reflectorMetrics(registry: Registry): ReflectorMetrics {
  const { counter } = instrumentsOf(registry)
  const relists = counter('reflector_relists_total', 'Lists, by reason.', ['resource', 'reason'])
  const missed = counter('reflector_missed_events_total', 'Changes that the watch missed and a later list found.', ['resource'])
  const ends = counter('reflector_watch_ends_total', 'Watches that ended, by reason.', ['resource', 'reason'])
  return {
    onRelist: ({ resource, reason }) => relists.inc({ resource, reason }),
    onMissed: ({ resource, count }) => missed.inc({ resource }, count),
    onWatchEnd: ({ resource, reason }) => ends.inc({ resource, reason }),
  }
}

/** Counts objects of the bucket that are treated as absent. */
export function ignoredMetrics(registry: Registry): IgnoredObjectsOptions['count'] {
  const ignored = new Counter({ ...IGNORED_METRIC, registers: [registry] })
  for (const labels of IGNORED_LABELS) ignored.inc(labels, 0)
  return (labels) => ignored.inc(labels)
}
