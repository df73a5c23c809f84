import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { fence, type MayWrite } from '@tintype/crds/runtime/fence'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { findDefaultWebhook } from '@tintype/crds/webhooks/deliveries'
import manifest from '../../../package.json' with { type: 'json' }
import type { Controller } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import { type Deps, inTerm, type StartedWork, type Term, type TermDeps, type Work } from '../../runtime/deps.ts'
import { createWebhookController } from '../webhook/controller.ts'
import { createDeliveryController, type RunningDeliveries } from './controller.ts'
import type { WebhookFinder } from './events/receivers.ts'
import { EventBodies, type EventStore, openEventStore, RecordedEvents, SCREENSHOTS_BY_ID } from './events/recorded-events.ts'
import { CircuitBreakers, PostLimiter } from './flow-control.ts'
import { buildGuardedAgent, type Certificates } from './http/guarded-agent.ts'
import { certificatesOf, listOwnAddresses, type Resolve, resolverOf, toRules } from './http/network.ts'
import { type Post, type PostOutcome, post } from './http/post.ts'
import { SigningSecrets } from './http/signing-secrets.ts'
import { Backlog } from './progress.ts'
import { PostRequests } from './requests.ts'
import { Statistics } from './statistics.ts'
import { DeliveryLog } from './telemetry/delivery-log.ts'
import { createDeliveryMetrics, type DeliveryMetrics } from './telemetry/metrics.ts'
import { UndeliveredController } from './undelivered.ts'
import { createOpenDeliveries, UndeliveredStore } from './undelivered-store.ts'

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

/** Dependencies of the controllers that post events. */
export interface DeliveryDeps extends Deps {
  metrics: DeliveryMetrics
}

/** What posts use outside the cluster. Tests replace it. */
export interface Surroundings {
  /** CA certificates for receivers, PEM. A function returns the present ones. */
  certificates: Certificates
  /** IP addresses of this pod, which are forbidden for webhooks. */
  ownAddresses: readonly string[]
  resolve: Resolve
  openEventStore: (mayWrite: MayWrite) => EventStore
  /** Makes a post. Default: a request over the network. */
  post?: (order: Post) => Promise<PostOutcome>
  /** Numbers from 0 to 1 for the delays of retries. */
  random?: () => number
}

/** What the parts of these controllers use during one term. */
export type DeliveryContext = ReturnType<typeof createContext>

interface Enqueues {
  screenshot: (key: string) => void
  webhook: (key: string) => void
}

/** Limits of concurrent posts, in total and per endpoint. The settings have that of an account. */
const LIMITS = { total: 256, perEndpoint: 8 }

/** Builds what the controllers share during one term. A new term builds all of it anew. */
function createContext(deps: DeliveryDeps & TermDeps, surroundings: Surroundings, enqueue: Enqueues) {
  const { config, keys, reflectors, clients, metrics, mayWrite, now } = deps
  const { webhook: settings } = config
  const { webhooks } = reflectors
  const { timeoutMilliseconds, retryDelaysMilliseconds: delaysMilliseconds } = settings
  const linkBase = { publicUrl: config.publicUrl, ring: keys.downloadKeys }
  const rules = toRules(settings)
  const finder: WebhookFinder = {
    findWebhook: (key) => {
      const webhook = webhooks.lister.get(key)
      return webhook && isBeingDeleted(webhook) ? undefined : webhook
    },
    findDefaultWebhook: (account) => findDefaultWebhook(webhooks.lister.byIndex(ACCOUNT_INDEX, account)),
  }
  const backlog = new Backlog()
  const limiter = new PostLimiter({ ...LIMITS, perAccount: settings.maxPostsPerAccount ?? LIMITS.total }, () => !backlog.isFull)
  backlog.onRoom = () => limiter.wake()
  backlog.onFull = (keys) => keys.forEach(enqueue.screenshot)
  const agent = buildGuardedAgent({
    ...surroundings,
    rules,
    ca: surroundings.certificates,
    connections: LIMITS.total,
    connectMilliseconds: timeoutMilliseconds,
    proxy: settings.proxyUrl === undefined ? undefined : new URL(settings.proxyUrl),
  })
  const dispatcher = agent.compose(fence(mayWrite))
  const circuitBreakers = new CircuitBreakers({
    now,
    onChange(endpoint, isOpen) {
      metrics.openCircuits.inc(isOpen ? 1 : -1)
      if (isOpen) metrics.circuitOpenings.inc()
      enqueue.webhook(endpoint)
    },
  })
  return {
    ...deps,
    ...finder,
    rules,
    // How a post is made.
    limiter,
    circuitBreakers,
    schedule: { delaysMilliseconds, timeoutMilliseconds },
    random: surroundings.random ?? Math.random,
    version: manifest.version,
    post: surroundings.post ?? ((order: Post) => post(order, { dispatcher, timeoutMilliseconds })),
    signingSecrets: new SigningSecrets({ secrets: clients.secrets, openingKeys: keys.openingKeys, now }),
    onMissingSecret: enqueue.webhook,
    // What is posted.
    linkBase,
    eventBodies: new EventBodies({ ...deps, store: surroundings.openEventStore(mayWrite) }),
    recordedEvents: new RecordedEvents({ ...deps, screenshots: reflectors.screenshots.lister, linkBase }),
    // Where results go. The statistics are the counters of Webhooks that are not in their status yet.
    statistics: new Statistics(deps),
    deliveryLog: new DeliveryLog(deps),
    /** Results that are not recorded yet. While there are too many, the limiter starts no post. */
    backlog,
    /** Deliveries without a Screenshot. */
    undelivered: new UndeliveredStore(deps),
    agent,
  }
}
