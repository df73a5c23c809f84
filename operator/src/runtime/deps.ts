import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import type { ScreenshotEventType } from '@tintype/crds/schema/event-types'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Clock } from '../controller/clock.ts'
import type { Controller } from '../controller/controller.ts'
import type { ControllerMetrics, WorkQueueMetrics } from '../controller/metrics.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import type { Reflectors } from '../kube/reflectors.ts'
import type { ReleaseKeys } from '../secrets/release-keys.ts'
import type { Archiving } from '../storage/archiving.ts'
import type { Storage } from '../storage/storage.ts'
import type { Config } from './config.ts'

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
  /** Order of events and webhook starts; also kept on standby replicas. */
  eventOrder: { followsStart: (webhook: Webhook, screenshot: Screenshot, event: ScreenshotEventType) => boolean | undefined }
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
