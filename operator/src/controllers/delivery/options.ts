import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import type { OpeningKeys } from '@tintype/crds/crypto/sealed'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import type { MayWrite } from '@tintype/crds/runtime/fence'
import type { LinkBase } from '@tintype/crds/webhooks/events'
import type { ControllerMetrics, WorkQueueMetrics } from '../../controller-runtime/metrics.ts'
import type { Term } from '../../runtime/term.ts'
import type { Archiving } from '../../storage/archiving.ts'
import type { EventStore } from './events/event-bodies.ts'
import type { EventOrder } from './events/event-order.ts'
import type { Certificates } from './http/guarded-agent.ts'
import type { Resolve } from './http/network.ts'
import type { DeliverySettings } from './http/settings.ts'
import type { DeliveryMetrics } from './telemetry/metrics.ts'

/** Dependencies of the delivery component; tests replace them. */
export interface DeliveryOptions {
  namespace: string
  screenshots: Reflector<Screenshot>
  webhooks: Reflector<Webhook>
  linkBase: LinkBase
  /** Keys that open sealed signing secrets. */
  openingKeys: OpeningKeys
  settings: DeliverySettings
  /** CA certificates for receivers, PEM. A function returns the present ones. */
  certificates: Certificates
  /** IP addresses of this pod, which are forbidden for webhooks. */
  ownAddresses: readonly string[]
  version: string
  log: Log
  /** Order of events and webhook starts; default: a new one. */
  eventOrder?: Pick<EventOrder, 'followsStart'>
  /** Opens the store of events for a term; absent: retries rebuild their events. */
  openEventStore?: (mayWrite: MayWrite) => EventStore
  /** Shared with the archive, which hands over open deliveries. */
  archiving?: Archiving
  /** Reports objects in the bucket that are ignored. */
  report?: ReportIgnored
  metrics?: DeliveryMetrics
  /** Exporter of spans; absent: no spans. */
  spans?: Pick<SpanExporter, 'add'> | undefined
  controllerMetrics?: ControllerMetrics & WorkQueueMetrics
  resolve?: Resolve
  now?: () => Date
  /** Interval of writing counters and lines of the delivery log. */
  statisticsMilliseconds?: number
}

/** Options of one term. */
export type TermOptions = DeliveryOptions & Term
