import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import type { Controller } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import { type Deps, inTerm, type StartedWork, type Term, type TermDeps, type Work } from '../../runtime/deps.ts'
import { createWebhookController } from '../webhook/controller.ts'
import { createContext, type DeliveryDeps, type Surroundings } from './context.ts'
import { createDeliveryController, type RunningDeliveries } from './controller.ts'
import { openEventStore, SCREENSHOTS_BY_ID } from './events/recorded-events.ts'
import { certificatesOf, listOwnAddresses, resolverOf } from './http/network.ts'
import { PostRequests } from './requests.ts'
import { createDeliveryMetrics } from './telemetry/metrics.ts'
import { UndeliveredController } from './undelivered.ts'
import { createOpenDeliveries } from './undelivered-store.ts'

/**
 * The controllers that post events: webhook, delivery, webhook-request and undelivered. They share circuit breakers, the limit of concurrent
 * posts, one guarded HTTP agent and the delivery log ({@link DeliveryContext}), so they start and stop together in each term of leadership.
 * Counters and lines of the log are written at intervals.
 */

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

/** Running deliveries of one term. */
interface StartedDelivery extends StartedWork {
  /** Writes the counters and lines of the log that are due at intervals. */
  flush: () => Promise<unknown>
}

/** Adds the indexes that deliveries need. `start` begins a term; both reflectors must have synced by then. */
export function prepareDelivery(deps: DeliveryDeps, surroundings: Surroundings): { start: (term: Term) => StartedDelivery } {
  const { screenshots, webhooks } = deps.reflectors
  webhooks.lister.addIndex(ACCOUNT_INDEX, accountOf)
  screenshots.lister.addIndex(ACCOUNT_INDEX, accountOf).addIndex(SCREENSHOTS_BY_ID, ({ metadata }) => screenshotIdOf(metadata))
  return { start: (term) => startTerm(inTerm(deps, term), surroundings) }
}

function startTerm(deps: DeliveryDeps & TermDeps, surroundings: Surroundings): StartedDelivery {
  const context = createContext(deps, surroundings, {
    screenshot: (key) => deliveries.controller.enqueue(key),
    webhook: (key) => hooks.enqueue(key),
  })
  const { limiter, circuitBreakers, statistics, deliveryLog, agent } = context
  const settings = deps.config.webhook
  const hooks: Controller = createWebhookController(context)
  const deliveries: RunningDeliveries = createDeliveryController(context)
  const requests = new PostRequests(context)
  const undelivered = new UndeliveredController(context)
  const hasWebhooks = (shot: Screenshot) => deps.reflectors.webhooks.lister.countByIndex(ACCOUNT_INDEX, accountOf(shot)) > 0
  const observe = (shot: Screenshot) => (hasWebhooks(shot) ? deliveries.observe(shot) : undefined)
  deps.archiving.openDeliveries = createOpenDeliveries(observe, context)
  const others = [requests.controller, undelivered.controller]
  const controllers = [hooks, deliveries.controller, ...others]
  for (const each of controllers) each.start()
  const flush = () => Promise.all([statistics.flush(), deliveryLog.flush()])
  const timer = setInterval(() => {
    circuitBreakers.forgetIdle()
    void flush()
  }, settings.flushMilliseconds)
  const stop = async () => {
    clearInterval(timer)
    await Promise.all([limiter.close(), hooks.stop(settings.timeoutMilliseconds)])
    await Promise.all([deliveries.stop(), ...others.map((each) => each.stop(settings.timeoutMilliseconds))])
    await flush()
    await agent.destroy()
    circuitBreakers.close()
  }
  return { controllers, stop, flush }
}
