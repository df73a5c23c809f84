import { events } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import { Resource } from '@tintype/crds/client/resource'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import type { MayWrite } from '@tintype/crds/runtime/fence'
import type { EventType } from '@tintype/crds/schema/event-types'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Clock } from '../controller-runtime/clock.ts'
import { Controller, type ControllerOptions, type Reconcile } from '../controller-runtime/controller.ts'
import type { RuntimeMetrics } from '../controller-runtime/metrics.ts'
import { type Clients, createClients } from '../kube/clients.ts'
import { createEventRecorder, type EventFilter, type EventRecorder } from '../kube/event-recorder.ts'
import type { Reflectors } from '../kube/reflectors.ts'
import type { ReleaseKeys } from '../secrets/release-keys.ts'
import type { Archiving } from '../storage/archiving.ts'
import { openStorage, type Storage } from '../storage/storage.ts'
import type { Config } from './config.ts'

/** Dependencies that main.ts passes to every controller. None of them writes: only the clients of a term do. */
export interface Deps {
  config: Config
  log: Logger
  registry: Registry
  /** Passed to every Controller as `metrics`. */
  controllerMetrics?: RuntimeMetrics | undefined
  clock: Clock
  reflectors: Reflectors
  keys: ReleaseKeys
  /** Called for objects in the bucket that are treated as absent. */
  report: ReportIgnored
  archiving: Archiving
  /** Order of events and webhook starts; also kept on standby replicas. */
  eventOrder: { followsStart: (webhook: Webhook, screenshot: Screenshot, event: EventType) => boolean | undefined }
  /** Receives spans; absent without a collector. */
  spans?: Pick<SpanExporter, 'add'> | undefined
}

/** Dependencies of a controller during one term. */
export interface TermDeps extends Deps, Term {
  clients: Clients
  now: () => Date
}

/** Adds what a term has. */
export const inTerm = <D extends Deps>(deps: D, term: Term): D & TermDeps => ({
  ...deps,
  ...term,
  clients: createClients(term.http, deps.reflectors),
  now: () => new Date(deps.clock.wall()),
})

/** Running controllers during one term of leadership. */
export interface StartedWork {
  /** Controllers for the liveness probe. */
  controllers: Controller[]
  /** Stops the work. Resolves when none of it is running. */
  stop: () => Promise<void>
}

/** Creates a controller that logs and counts as all others. */
export const createController = (
  name: string,
  options: Pick<ControllerOptions, 'workers' | 'timeoutMilliseconds'>,
  reconcile: Reconcile,
  { log, controllerMetrics }: Pick<ControllerOptions, 'log'> & Pick<Deps, 'controllerMetrics'>,
): Controller => new Controller({ ...options, name, reconcile, log, metrics: controllerMetrics })

/** Starts controllers that stop together. @param end called once none of them is running */
export function startControllers(controllers: Controller[], end?: () => Promise<void>): StartedWork {
  for (const each of controllers) each.start()
  const stop = async () => {
    await Promise.all(controllers.map((each) => each.stop()))
    await end?.()
  }
  return { controllers, stop }
}

/**
 * An entry of controllers/all.ts. It is created once per process and started at the beginning of each term.
 */
export interface Work {
  start: (term: Term) => StartedWork
}

/**
 * One term of leadership. Once the lease is lost, its clients refuse each request that writes, with a FencedError. So controllers do not ask
 * whether they lead.
 */
export interface Term {
  /** Aborted at the end of the term. Work that runs then may still write while the lease is held. */
  signal: AbortSignal
  /** Whether new work may start. */
  mayStart: () => boolean
  /** False 10 s after the last renewal of the lease, whatever else has happened. Other clients of a term also ask it before each write. */
  mayWrite: MayWrite
  http: KubeHttp
  storage: Storage
  events: EventRecorder
}

interface TermOptions {
  signal: AbortSignal
  mayWrite: MayWrite
  http: KubeHttp
  config: Config
  /** Remembers Events of earlier terms. */
  eventFilter: EventFilter
  log: Log
  now: () => number
}

/** Opens the clients of a term. */
export function openTerm({ signal, mayWrite, http, config, eventFilter, log, now }: TermOptions): Term {
  const fenced = http.fenced(mayWrite)
  return {
    signal,
    mayStart: () => !signal.aborted && mayWrite(),
    mayWrite,
    http: fenced,
    storage: openStorage(config.storage, { uploads: config.uploads, mayWrite }),
    events: createEventRecorder({
      events: new Resource(fenced, events, { namespace: config.namespace }),
      instance: config.podName,
      filter: eventFilter,
      log,
      now,
    }),
  }
}

/** The leader's work in each term. */
interface Leadership {
  /** Controllers of the current term; empty on a standby. */
  readonly controllers: readonly Controller[]
  /** Starts the work. Resolves when the term has ended and all work has stopped. */
  lead: (term: Term) => Promise<void>
}

/** Combines the entries of controllers/all.ts: they start and stop with the term. */
export function createLeadership(parts: readonly Work[]): Leadership {
  let started: StartedWork[] = []
  return {
    get controllers() {
      return started.flatMap(({ controllers }) => controllers)
    },
    async lead(term) {
      const { signal } = term
      started = parts.map((part) => part.start(term))
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      await Promise.all(started.map(({ stop }) => stop()))
      started = []
    },
  }
}
