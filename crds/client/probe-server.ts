import { createServer, type Server, type ServerResponse } from 'node:http'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { IGNORED_LABELS, IGNORED_METRIC, type IgnoredObjectsOptions } from '../src/records/ignored-objects.ts'
import type { RequestRecord } from './kube-http.ts'
import type { ReflectorMetrics } from './reflector.ts'

// Serves port 9090 of gateway and operator for Kubernetes and Prometheus. Every pod of the cluster may connect, so no request may end the program.

/** What the probes and Prometheus get. */
interface ProbeParts {
  registry: Registry
  /** Problems that only a restart fixes. Absent: there are none. */
  findProblems?: () => readonly string[]
  /** Why this replica is not ready. Empty when it is ready. */
  findUnready: () => readonly string[]
}

interface Reply {
  status: number
  text: string
  type?: string
}

const toReply = (reasons: readonly string[]): Reply => ({
  status: reasons.length === 0 ? 200 : 503,
  text: `${reasons.join('\n') || 'ok'}\n`,
})

/** Builds the server of /healthz (liveness), /readyz (readiness) and /metrics. */
export const buildProbeServer = (parts: ProbeParts): Server =>
  createServer((request, response) => {
    reply(request.url?.split('?')[0], parts).then(
      (found) => send(response, found),
      () => send(response, { status: 500, text: 'internal error\n' }),
    )
  })

async function reply(path: string | undefined, { registry, findProblems = () => [], findUnready }: ProbeParts): Promise<Reply> {
  if (path === '/healthz') return toReply(findProblems())
  if (path === '/readyz') return toReply(findUnready())
  if (path === '/metrics') return { status: 200, text: await registry.metrics(), type: registry.contentType }
  return { status: 404, text: 'not found\n' }
}

function send(response: ServerResponse, { status, text, type = 'text/plain; charset=utf-8' }: Reply): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
}

// Creates metrics, and those that each program with informer caches has.

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
