import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import type { OpeningKeys } from '@tintype/crds/crypto/sealed'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import type { LinkBase } from '@tintype/crds/webhooks/events'
import type { ControllerMetrics, WorkQueueMetrics } from '../controller/metrics.ts'
import type { EventRecorder } from '../kube/event-recorder.ts'
import type { Storage } from '../storage/storage.ts'
import type { EventStore } from './events/event-bodies.ts'
import type { EventOrder } from './events/event-order.ts'
import type { Resolve } from './http/network.ts'
import type { DeliverySettings } from './http/settings.ts'
import type { DeliveryMetrics } from './telemetry/metrics.ts'

/** What deliveries are made of; tests give their own. */
export interface DeliveryOptions {
  http: KubeHttp
  namespace: string
  screenshots: Reflector<Screenshot>
  webhooks: Reflector<Webhook>
  linkBase: LinkBase
  /** Open the signing secrets in specs. */
  openingKeys: OpeningKeys
  settings: DeliverySettings
  /** PEM certificates that vouch for receivers. */
  certificates: string[]
  /** Addresses of this pod, which no webhook may mean. */
  ownAddresses: readonly string[]
  version: string
  log: Log
  /** Absent: nobody is told by Kubernetes Events. */
  events?: Pick<EventRecorder, 'warn'>
  isLeader: () => boolean
  /** Of events and webhooks; absent: made with the part. */
  eventOrder?: Pick<EventOrder, 'followsStart'>
  eventStore?: EventStore
  /** Keeps the log; without it nothing is delivered again. */
  storage?: Storage
  /** Told of objects in the bucket that count as absent. */
  report?: ReportIgnored
  metrics?: DeliveryMetrics
  /** Where spans go; absent: nobody collects them. */
  spans?: Pick<SpanExporter, 'add'> | undefined
  controllerMetrics?: ControllerMetrics & WorkQueueMetrics
  resolve?: Resolve
  now?: () => Date
  /** How often counters and lines of the log are written. */
  statisticsMilliseconds?: number
}
