import { Registry } from 'prom-client'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { type Log, silentLog } from '../../../crds/client/log.ts'
import type { Reflector } from '../../../crds/client/reflector.ts'
import type { OpeningKeys } from '../../../crds/src/crypto/sealed.ts'
import type { KeyRing } from '../../../crds/src/crypto/signatures.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import { ignoreSilently } from '../../../crds/src/records/ignored-objects.ts'
import { systemClock } from '../../../operator/src/controller-runtime/clock.ts'
import type { DeliveryDeps } from '../../../operator/src/controllers/delivery/context.ts'
import { EventOrder } from '../../../operator/src/controllers/delivery/events/event-order.ts'
import type { Certificates } from '../../../operator/src/controllers/delivery/http/guarded-agent.ts'
import { type DeliverySettings, resolverOf } from '../../../operator/src/controllers/delivery/http/network.ts'
import { createDeliveryMetrics } from '../../../operator/src/controllers/delivery/telemetry/metrics.ts'
import { prepareDelivery } from '../../../operator/src/controllers/delivery/term.ts'
import type { StartedWork } from '../../../operator/src/runtime/deps.ts'
import { Archiving } from '../../../operator/src/storage/archiving.ts'
import { MemoryBucket } from './memory-bucket.ts'
import { aTerm } from './term.ts'

export interface Deliveries {
  http: KubeHttp
  screenshots: Reflector<Screenshot>
  webhooks: Reflector<Webhook>
  openingKeys: OpeningKeys
  ring: KeyRing
  certificates: Certificates
  publicUrl?: string
  settings?: Partial<DeliverySettings & { flushMilliseconds: number }>
  signal?: AbortSignal
  now?: () => Date
  log?: Log
}

/** Starts the controllers that post events, with a bucket in memory and access to loopback. */
export function startDeliveries({ http, screenshots, webhooks, openingKeys, ring, certificates, ...given }: Deliveries): StartedWork {
  const { publicUrl = 'https://shots.example.com', now = () => new Date(), log = silentLog } = given
  const reflectors = { screenshots, webhooks }
  const webhook = {
    ...{ timeoutMilliseconds: 10_000, retryDelaysMilliseconds: [300, 600], flushMilliseconds: 5_000 },
    ...{ allowedCidrs: ['127.0.0.0/8'], allowedHosts: [], ...given.settings },
  }
  const deps = {
    ...{ reflectors, log, metrics: createDeliveryMetrics(new Registry()), report: ignoreSilently },
    config: { namespace: http.namespace, publicUrl, webhook },
    keys: { downloadKeys: ring, openingKeys },
    clock: { ...systemClock, wall: () => now().getTime() },
    archiving: new Archiving(),
    eventOrder: new EventOrder(reflectors),
  } as unknown as DeliveryDeps
  const { storage } = new MemoryBucket()
  const eventStore = { put: storage.write, get: (key: string) => storage.readText(key, Number.POSITIVE_INFINITY) }
  const work = prepareDelivery(deps, { certificates, ownAddresses: [], resolve: resolverOf(), openEventStore: () => eventStore })
  return work.start(aTerm({ http, storage, ...(given.signal ? { signal: given.signal } : {}) }))
}
