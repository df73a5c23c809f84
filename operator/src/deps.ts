import type { Lease, Pod } from '@tintype/crds/client/core-resources'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import type { Account } from '@tintype/crds/kinds/account'
import type { AccountUsage } from '@tintype/crds/kinds/account-usage'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { ReportIgnored } from '@tintype/crds/stored/ignored-objects'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from './config.ts'
import type { Clock } from './controller/clock.ts'
import type { Controller } from './controller/controller.ts'
import type { ControllerMetrics, WorkQueueMetrics } from './controller/metrics.ts'
import type { EventOrder } from './delivery/events/event-order.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { Archiving } from './retention/archiving.ts'
import type { ReleaseKeys } from './secrets/release-keys.ts'
import type { Storage } from './storage/storage.ts'

/** The local copies of the cluster that every part reads. They run on the standby too, so that a takeover finds them warm. */
export interface Reflectors {
  screenshots: Reflector<Screenshot>
  webhooks: Reflector<Webhook>
  pools: Reflector<RunnerPool>
  /** The pods of RunnerPools only. */
  pods: Reflector<Pod>
  accounts: Reflector<Account>
  apiKeys: Reflector<ApiKey>
  usages: Reflector<AccountUsage>
  /** By which gateways show that they live. */
  gatewayLeases: Reflector<Lease>
}

/** What main.ts hands to every part of the operator. */
export interface Deps {
  config: Config
  http: KubeHttp
  log: Logger
  registry: Registry
  /** For every Controller's `metrics`. */
  controllerMetrics: ControllerMetrics & WorkQueueMetrics
  clock: Clock
  reflectors: Reflectors
  keys: ReleaseKeys
  storage: Storage
  /** Told of objects in the bucket that count as absent. */
  report: ReportIgnored
  events: EventRecorder
  archiving: Archiving
  /** Of events and webhooks; on the standby too. */
  eventOrder: Pick<EventOrder, 'followsStart'>
  /** Where spans go; absent: nobody collects them. */
  spans?: Pick<SpanExporter, 'add'> | undefined
  /** False 10 s after the last renewal of the lease, whatever else has happened: ask before each act. */
  isLeader: () => boolean
}

/** One part's work during one term of leadership. */
export interface StartedWork {
  /** For the liveness probe. */
  controllers: Controller[]
  /** Ends it; resolves when nothing of it runs any more. */
  stop: () => Promise<void>
}

/** A part of the operator: made once a process, started at the beginning of each term, with a signal that ends with the term. */
export interface Work {
  start: (signal: AbortSignal) => StartedWork
}
