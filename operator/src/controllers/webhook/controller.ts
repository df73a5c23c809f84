import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { webhooks } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import type { OpeningKeys } from '@tintype/crds/crypto/sealed'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { Controller } from '../../controller-runtime/controller.ts'
import type { ControllerMetrics, WorkQueueMetrics } from '../../controller-runtime/metrics.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { SecretStore } from '../../secrets/ensure-secret.ts'
import type { DisableSettings } from './auto-disable.ts'
import { affectedKeys } from './limit.ts'
import { reconcile } from './reconcile.ts'

export interface WebhookControllerOptions {
  http: KubeHttp
  namespace: string
  webhooks: Reflector<Webhook>
  secrets: SecretStore
  openingKeys: OpeningKeys
  rules: EgressRules
  /** True while posts to the webhook with that key are paused. */
  isCircuitOpen: (webhookKey: string) => boolean
  /** When failing endpoints are disabled. */
  disable: DisableSettings
  events?: Pick<EventRecorder, 'warn'> | undefined
  now: () => Date
  log: Log
  controllerMetrics?: (ControllerMetrics & WorkQueueMetrics) | undefined
}

const WORKERS = 4

/** Access to Webhooks. */
export const webhookStore = (http: KubeHttp, namespace: string): Resource<Webhook> => new Resource(http, webhooks, { namespace })

/** Starts the controller that prepares Webhooks for deliveries. */
export function startWebhookController(options: WebhookControllerOptions): Controller {
  const {
    http,
    namespace,
    webhooks: reflector,
    secrets,
    openingKeys,
    rules,
    isCircuitOpen,
    disable,
    events,
    now,
    log,
    controllerMetrics,
  } = options
  const shared = { webhooks: reflector.lister, secrets, openingKeys, rules, isCircuitOpen, disable, events, now }
  const deps = { ...shared, store: webhookStore(http, namespace), seen: reflector }
  const controller = new Controller({
    name: 'webhook',
    workers: WORKERS,
    reconcile: (key, signal) => reconcile(key, deps, signal),
    log,
    ...(controllerMetrics ? { metrics: controllerMetrics } : {}),
  })
  controller.watch(reflector, (event) => affectedKeys(event, reflector.lister))
  controller.start()
  return controller
}
