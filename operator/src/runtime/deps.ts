import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import type { EventType } from '@tintype/crds/schema/event-types'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Clock } from '../controller-runtime/clock.ts'
import { Controller, type ControllerOptions, type Reconcile } from '../controller-runtime/controller.ts'
import type { RuntimeMetrics } from '../controller-runtime/metrics.ts'
import { type Clients, createClients } from '../kube/clients.ts'
import type { Reflectors } from '../kube/reflectors.ts'
import type { ReleaseKeys } from '../secrets/release-keys.ts'
import type { Archiving } from '../storage/archiving.ts'
import type { Config } from './config.ts'
import type { Term } from './term.ts'

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
