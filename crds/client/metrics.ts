// Creates metrics, and those that each program with informer caches has.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { IGNORED_LABELS, IGNORED_METRIC, type IgnoredObjectsOptions } from '../src/records/ignored-objects.ts'
import type { ReflectorMetrics } from './reflector.ts'

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
