/**
 * The controllers that post events: webhook, delivery, webhook-request and undelivered. They share circuit breakers, the limit of concurrent
 * posts, one guarded HTTP agent and the delivery log (delivery-context.ts), so they start and stop together in each term of leadership.
 * Counters and lines of the log are written at intervals.
 */

import { keyOf } from '@tintype/crds/client/kube-object'
import { screenshotIdOf, webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { mapConcurrently } from '@tintype/crds/runtime/map-concurrently'
import { findDefaultWebhook } from '@tintype/crds/webhooks/request-webhook'
import type { Controller } from '../controller-runtime/controller.ts'
import { TerminalError } from '../controller-runtime/errors.ts'
import type { Deps, StartedWork, Work } from '../runtime/deps.ts'
import type { Term } from '../runtime/term.ts'
import type { OpenDeliveries } from '../storage/archiving.ts'
import type { ApplyDeps } from './delivery/apply.ts'
import { createDeliveryController, type RunningDeliveries, webhooksOf } from './delivery/controller.ts'
import { DeliveryWorker } from './delivery/delivery-worker.ts'
import type { WebhookFinder } from './delivery/endpoint.ts'
import { openEventStore } from './delivery/events/event-bodies.ts'
import { SCREENSHOTS_BY_ACCOUNT, SCREENSHOTS_BY_ID } from './delivery/events/recorded-events.ts'
import { certificatesOf, listOwnAddresses, resolverOf } from './delivery/http/network.ts'
import { createRequestController } from './delivery/requests/controller.ts'
import { createDeliveryMetrics } from './delivery/telemetry/metrics.ts'
import { UndeliveredController } from './delivery/undelivered/controller.ts'
import { findOpenDeliveries, toUndelivered } from './delivery/undelivered/hand-over.ts'
import { UndeliveredWorker } from './delivery/undelivered/undelivered-worker.ts'
import { noteWithdrawal } from './delivery/withdrawal.ts'
import { createContext, type DeliveryContext, type DeliveryDeps, type Surroundings } from './delivery-context.ts'
import { createWebhookController } from './webhook/controller.ts'
import { BY_ACCOUNT } from './webhook/limit.ts'

const CONCURRENT_WRITES = 16

/** Creates these controllers. Call it once per process. */
export function createDeliveryControllers(deps: Deps): Work {
  const { webhook, storage } = deps.config
  return prepareDelivery(
    { ...deps, metrics: createDeliveryMetrics(deps.registry), log: deps.log.child({ component: 'delivery' }) },
    {
      certificates: certificatesOf(webhook.extraCaFile),
      ownAddresses: listOwnAddresses(),
      resolve: resolverOf(),
      openEventStore: (mayWrite) => openEventStore(storage, mayWrite),
    },
  )
}

/** Adds the indexes that deliveries need. `start` begins a term; both reflectors must have synced by then. */
export function prepareDelivery(deps: DeliveryDeps, surroundings: Surroundings): Work {
  const { screenshots, webhooks } = deps.reflectors
  webhooks.lister.addIndex(BY_ACCOUNT, accountOf)
  screenshots.lister.addIndex(SCREENSHOTS_BY_ACCOUNT, accountOf).addIndex(SCREENSHOTS_BY_ID, ({ metadata }) => screenshotIdOf(metadata))
  return { start: (term) => startTerm({ ...deps, ...term }, surroundings) }
}

function startTerm(deps: DeliveryDeps & Term, surroundings: Surroundings): StartedWork {
  const context = createContext(deps, surroundings, {
    screenshot: (key) => deliveries.controller.enqueue(key),
    webhook: (key) => hooks.enqueue(key),
  })
  const { archiving, settings, webhooks, limiter, circuitBreakers, statistics, deliveryLog } = context
  const finder: WebhookFinder = {
    findWebhook: (key) => webhooks.lister.get(key),
    findDefaultWebhook: (screenshot) => findDefaultWebhook(webhooksOf(screenshot, webhooks)),
  }
  const hooks: Controller = createWebhookController({ ...context, isCircuitOpen: (key) => circuitBreakers.isOpen(key), disable: settings })
  const deliveries: RunningDeliveries = createDeliveryController({
    ...context,
    ...handOvers(context, finder),
    deliveryWorker: new DeliveryWorker({ ...context, ...finder, events: context.eventBodies, exists: (shot) => isThere(shot, context) }),
    isHeld: (screenshot) => archiving.isHeld(screenshot),
    onWithdrawn: (key, screenshot, change) => noteWithdrawal(webhooks.lister.get(key), screenshot, change, deliveryLog),
  })
  const undelivered = new UndeliveredController({
    ...context,
    store: context.undelivered,
    worker: new UndeliveredWorker({
      ...context,
      store: context.undelivered,
      events: context.eventBodies,
      findWebhook: finder.findWebhook,
      findDefaultWebhook: (account) => findDefaultWebhook(webhooks.lister.byIndex(BY_ACCOUNT, account)),
    }),
  })
  const requests = createRequestController(context)
  archiving.openDeliveries = openDeliveriesOf(context, deliveries, finder)
  const controllers = [hooks, deliveries.controller, requests.controller, undelivered.controller]
  for (const each of controllers) each.start()
  const timer = setInterval(() => {
    circuitBreakers.sweep()
    void statistics.flush()
    void deliveryLog.flush()
  }, settings.flushMilliseconds)
  const stop = async () => {
    clearInterval(timer)
    await Promise.all([limiter.close(), hooks.stop(settings.timeoutMilliseconds)])
    await Promise.all([
      deliveries.stop(),
      ...[requests, undelivered].map(({ controller }) => controller.stop(settings.timeoutMilliseconds)),
    ])
    await Promise.all([statistics.flush(), deliveryLog.flush()])
    await context.agent.destroy()
    circuitBreakers.close()
  }
  return { controllers, stop }
}

/** False for a Screenshot that was deleted, or is archived: its events are not posted from status.deliveries. */
const isThere = ({ metadata }: Screenshot, { screenshots, archiving }: DeliveryContext): boolean =>
  screenshots.lister.get(keyOf({ metadata }))?.metadata.uid === metadata.uid && !archiving.isHeld({ metadata })

/** Stores deliveries whose Screenshot is deleted, and those that failed. */
function handOvers({ undelivered, now }: DeliveryContext, finder: WebhookFinder): Pick<ApplyDeps, 'keepOpen' | 'keepMissed'> {
  return {
    async keepOpen(observed) {
      const open = findOpenDeliveries(observed, finder, now()) ?? []
      for (const delivery of open) await undelivered.open(accountOf(observed.screenshot), delivery)
    },
    async keepMissed({ screenshot }, failed) {
      for (const { event, webhook: name, after } of failed) {
        const webhook = finder.findWebhook(`${screenshot.metadata.namespace}/${name}`) ?? finder.findDefaultWebhook(screenshot)
        const [missed] = toUndelivered(screenshot, { event, webhook: name, ...after }, finder)
        if (webhook && missed) await undelivered.miss(accountOf(screenshot), webhookIdOf(webhook.metadata), missed)
      }
    },
  }
}

/** What the archive does with open deliveries. */
const openDeliveriesOf = (
  { webhooks, undelivered, now }: DeliveryContext,
  deliveries: RunningDeliveries,
  finder: WebhookFinder,
): OpenDeliveries => ({
  of(screenshot) {
    if (webhooks.lister.countByIndex(BY_ACCOUNT, accountOf(screenshot)) === 0) return []
    try {
      const observed = deliveries.observe(screenshot)
      return observed ? findOpenDeliveries(observed, finder, now()) : []
    } catch (error) {
      // The delivery controller cannot read it either, so it has no deliveries. It must not stop the archive.
      if (error instanceof TerminalError) return []
      throw error
    }
  },
  async keep(account, open) {
    await mapConcurrently(open, CONCURRENT_WRITES, (delivery) => undelivered.open(account, delivery))
  },
})
