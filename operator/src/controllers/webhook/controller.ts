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

import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { createController } from '../../runtime/deps.ts'
import { apply } from './apply.ts'
import type { WebhookContext } from './context.ts'
import { decide } from './decide.ts'
import { affectedKeys } from './limit.ts'
import { observe } from './observe.ts'

const WORKERS = 4

/** Creates the controller of one term. */
export function createWebhookController(context: WebhookContext): Controller {
  const { webhooks } = context.reflectors
  const controller = createController('webhook', { workers: WORKERS }, (key, signal) => reconcile(key, context, signal), context)
  controller.watch(webhooks, (event) => affectedKeys(event, webhooks.lister))
  return controller
}

/** Reconciles one Webhook. */
async function reconcile(key: string, deps: WebhookContext, signal: AbortSignal): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  if (!observed) return undefined
  return apply(decide(observed, deps.now(), deps.config.webhook), observed.webhook, deps, signal)
}
