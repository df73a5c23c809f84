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

import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import type { ControllerMetrics, WorkQueueMetrics } from '../../controller-runtime/metrics.ts'
import { createController } from '../../runtime/deps.ts'
import { type ApplyDeps, apply } from './apply.ts'
import type { DisableSettings } from './auto-disable.ts'
import { decide } from './decide.ts'
import { affectedKeys } from './limit.ts'
import { type ObserveDeps, observe } from './observe.ts'

export interface WebhookControllerOptions extends Omit<ObserveDeps & ApplyDeps, 'webhooks' | 'seen'> {
  webhooks: Reflector<Webhook>
  /** When failing endpoints are disabled. */
  settings: DisableSettings
  log: Log
  controllerMetrics: ControllerMetrics & WorkQueueMetrics
}

const WORKERS = 4

/** Creates the controller of one term. */
export function createWebhookController(options: WebhookControllerOptions): Controller {
  const { webhooks: reflector } = options
  const deps: ReconcileDeps = { ...options, webhooks: reflector.lister, seen: reflector }
  const controller = createController('webhook', { workers: WORKERS }, (key, signal) => reconcile(key, deps, signal), options)
  controller.watch(reflector, (event) => affectedKeys(event, reflector.lister))
  return controller
}

type ReconcileDeps = ObserveDeps & ApplyDeps & { settings: DisableSettings }

/** Reconciles one Webhook. */
async function reconcile(key: string, deps: ReconcileDeps, signal: AbortSignal): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  if (!observed) return undefined
  return apply(decide(observed, deps.now(), deps.settings), observed.webhook, deps, signal)
}
