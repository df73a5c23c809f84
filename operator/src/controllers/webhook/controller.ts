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
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'
import { type ApplyDeps, apply } from './apply.ts'
import type { DisableSettings } from './auto-disable.ts'
import { decide } from './decide.ts'
import { affectedKeys } from './limit.ts'
import { type ObserveDeps, observe } from './observe.ts'

export interface WebhookControllerOptions extends Pick<ObserveDeps, 'circuitBreakers' | 'now'> {
  deps: Pick<TermDeps, 'events' | 'controllerMetrics'> & {
    log: Log
    /** When failing endpoints are disabled. */
    config: { webhook: DisableSettings }
    reflectors: Pick<Reflectors, 'webhooks'>
    keys: Pick<ObserveDeps, 'openingKeys'>
  }
  kube: Pick<ObserveDeps & ApplyDeps, 'store' | 'secrets' | 'rules'>
}

const WORKERS = 4

/** Creates the controller of one term. */
export function createWebhookController({ deps, kube, circuitBreakers, now }: WebhookControllerOptions): Controller {
  const { webhooks: reflector } = deps.reflectors
  const { openingKeys } = deps.keys
  const context: ReconcileDeps = {
    ...{ ...kube, openingKeys, circuitBreakers, now, events: deps.events, settings: deps.config.webhook },
    ...{ webhooks: reflector.lister, seen: reflector },
  }
  const controller = createController('webhook', { workers: WORKERS }, (key, signal) => reconcile(key, context, signal), deps)
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
