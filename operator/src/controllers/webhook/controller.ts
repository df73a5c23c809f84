// rbac: tintype.dev/webhooks get,list,watch,patch
// (patch: disabling an endpoint that has failed for days)
// rbac: tintype.dev/webhooks/status patch
// rbac: /secrets get,create

/**
 * This controller observes Webhooks and prepares them for deliveries. It creates the Secret that signs events, unless the spec has a sealed
 * one, and writes conditions, subscriptions and the time from which events are posted. It disables an endpoint that has failed for days.
 * It requeues while the Secret of a deleted Webhook still exists, and the delivery controller enqueues a Webhook whose posts pause or resume.
 * It sends no requests outside the cluster.
 */

import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import { webhooks } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import type { OpeningKeys } from '@tintype/crds/crypto/sealed'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { Controller, type Requeue } from '../../controller-runtime/controller.ts'
import type { ControllerMetrics, WorkQueueMetrics } from '../../controller-runtime/metrics.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { SecretStore } from '../../secrets/ensure-secret.ts'
import { type ApplyDeps, apply } from './apply.ts'
import type { DisableSettings } from './auto-disable.ts'
import { decide } from './decide.ts'
import { affectedKeys } from './limit.ts'
import { type ObserveDeps, observe } from './observe.ts'

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

/** Starts the controller of one term. */
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

type ReconcileDeps = ObserveDeps & ApplyDeps & { disable: DisableSettings }

/** Reconciles one Webhook. */
async function reconcile(key: string, deps: ReconcileDeps, signal: AbortSignal): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  if (!observed) return undefined
  return apply(decide(observed, deps.now(), deps.disable), observed.webhook, deps, signal)
}
