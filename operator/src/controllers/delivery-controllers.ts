/**
 * The controllers that post events: webhook, delivery and webhook-request. They share circuit breakers, the limit of concurrent posts, one
 * guarded HTTP agent and the delivery log, so they start and stop together in each term of leadership. Counters and lines of the log are
 * written at intervals.
 */

import { secrets } from '@tintype/crds/client/core-resources'
import { keyOf } from '@tintype/crds/client/kube-object'
import { Resource } from '@tintype/crds/client/resource'
import { screenshotIdOf, webhookIdOf } from '@tintype/crds/identifiers/ids'
import { ignoreSilently } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { fence } from '@tintype/crds/runtime/fence'
import { mapConcurrently } from '@tintype/crds/runtime/map-concurrently'
import { findDefaultWebhook } from '@tintype/crds/webhooks/request-webhook'
import manifest from '../../package.json' with { type: 'json' }
import type { Controller } from '../controller-runtime/controller.ts'
import { TerminalError } from '../controller-runtime/errors.ts'
import type { Deps, StartedWork, Work } from '../runtime/deps.ts'
import type { OpenDeliveries } from '../storage/archiving.ts'
import type { ApplyDeps } from './delivery/apply.ts'
import { type RunningDeliveries, startDeliveryController, webhooksOf } from './delivery/controller.ts'
import { DeliveryWorker } from './delivery/delivery-worker.ts'
import type { WebhookFinder } from './delivery/endpoint.ts'
import { EventBodies, openEventStore } from './delivery/events/event-bodies.ts'
import { EventOrder } from './delivery/events/event-order.ts'
import { RecordedEvents, SCREENSHOTS_BY_ACCOUNT, SCREENSHOTS_BY_ID } from './delivery/events/recorded-events.ts'
import { CircuitBreakers } from './delivery/flow-control/circuit-breakers.ts'
import { PostLimiter } from './delivery/flow-control/post-limiter.ts'
import { buildGuardedAgent } from './delivery/http/guarded-agent.ts'
import { certificatesOf, listOwnAddresses, resolverOf } from './delivery/http/network.ts'
import { type Post, post } from './delivery/http/post.ts'
import { toRules } from './delivery/http/settings.ts'
import { SigningSecrets } from './delivery/http/signing-secrets.ts'
import type { DeliveryOptions, TermOptions } from './delivery/options.ts'
import { Backlog } from './delivery/progress.ts'
import { startRequests } from './delivery/requests/controller.ts'
import { Statistics } from './delivery/statistics.ts'
import { DeliveryLog } from './delivery/telemetry/delivery-log.ts'
import { createDeliveryMetrics } from './delivery/telemetry/metrics.ts'
import { UndeliveredController } from './delivery/undelivered/controller.ts'
import { findOpenDeliveries, toUndelivered } from './delivery/undelivered/hand-over.ts'
import { UndeliveredStore } from './delivery/undelivered/undelivered-store.ts'
import { UndeliveredWorker } from './delivery/undelivered/undelivered-worker.ts'
import { noteWithdrawal } from './delivery/withdrawal.ts'
import { startWebhookController, webhookStore } from './webhook/controller.ts'
import { BY_ACCOUNT } from './webhook/limit.ts'

/** Limits of concurrent posts, in total and per endpoint. The settings have that of an account. */
const LIMITS = { total: 256, perEndpoint: 8 }
const STATISTICS_MILLISECONDS = 5_000
const CONCURRENT_WRITES = 16

/** Creates these controllers. Call it once per process. */
export function createDeliveryControllers({
  config,
  log,
  registry,
  controllerMetrics,
  reflectors,
  keys,
  eventOrder,
  report,
  archiving,
  spans,
}: Deps): Work {
  return prepareDelivery({
    namespace: config.namespace,
    screenshots: reflectors.screenshots,
    webhooks: reflectors.webhooks,
    linkBase: { publicUrl: config.publicUrl, ring: keys.downloadKeys },
    openingKeys: keys.openingKeys,
    settings: config.webhook,
    certificates: certificatesOf(config.webhook.extraCaFile),
    ownAddresses: listOwnAddresses(),
    version: manifest.version,
    log: log.child({ component: 'delivery' }),
    eventOrder,
    openEventStore: (mayWrite) => openEventStore(config.storage, mayWrite),
    statisticsMilliseconds: config.webhook.flushMilliseconds,
    report,
    archiving,
    metrics: createDeliveryMetrics(registry),
    spans,
    controllerMetrics,
  })
}

/** Adds the indexes that deliveries need. `start` begins a term; both reflectors must have synced by then. */
export function prepareDelivery(options: DeliveryOptions): Work {
  options.webhooks.lister.addIndex(BY_ACCOUNT, accountOf)
  options.screenshots.lister.addIndex(SCREENSHOTS_BY_ACCOUNT, accountOf)
  options.screenshots.lister.addIndex(SCREENSHOTS_BY_ID, ({ metadata }) => screenshotIdOf(metadata))
  const { eventOrder = new EventOrder(options) } = options
  return { start: (term) => startTerm({ ...options, eventOrder, ...term }) }
}

function startTerm(options: TermOptions): StartedWork {
  const { settings, webhooks, mayStart: mayPost } = options
  const { now = () => new Date(), metrics = {} } = options
  const shared = buildSharedState(options, {
    enqueueScreenshot: (key) => deliveries.controller.enqueue(key),
    enqueueWebhook: (key) => hooks.enqueue(key),
  })
  const { circuitBreakers, limiter, statistics, deliveryLog, agent } = shared
  const hooks: Controller = startWebhookController({
    ...options,
    secrets: shared.secrets,
    rules: toRules(settings),
    isCircuitOpen: (key) => circuitBreakers.isOpen(key),
    disable: settings,
    now,
  })
  const { undelivered } = shared
  const deliveries: RunningDeliveries = startDeliveryController({
    ...options,
    metrics,
    deliveryWorker: buildDeliveryWorker(options, shared),
    backlog: shared.backlog,
    circuitBreakers,
    statistics,
    mayPost,
    now,
    isHeld: (screenshot) => options.archiving?.isHeld(screenshot) ?? false,
    ...(undelivered ? handOvers(options, undelivered, now) : {}),
    onWithdrawn: (key, screenshot, change) => noteWithdrawal(webhooks.lister.get(key), screenshot, change, deliveryLog),
  })
  const archived = undelivered && startUndelivered(options, shared, { store: undelivered, mayPost, now })
  if (options.archiving && undelivered)
    options.archiving.openDeliveries = openDeliveriesOf(options, { deliveries, store: undelivered, now })
  const requests = startRequests(options, { ...shared, mayPost, now })
  const timer = setInterval(() => {
    circuitBreakers.sweep()
    void statistics.flush()
    void deliveryLog?.flush()
  }, options.statisticsMilliseconds ?? STATISTICS_MILLISECONDS)
  const stop = async () => {
    clearInterval(timer)
    await Promise.all([limiter.close(), hooks.stop(settings.timeoutMilliseconds)])
    const others = [requests, ...(archived ? [archived] : [])]
    await Promise.all([deliveries.stop(), ...others.map(({ controller }) => controller.stop(settings.timeoutMilliseconds))])
    await Promise.all([statistics.flush(), deliveryLog?.flush()])
    await agent.destroy()
    circuitBreakers.close()
  }
  return { controllers: [hooks, deliveries.controller, requests.controller, ...(archived ? [archived.controller] : [])], stop }
}

interface Enqueues {
  enqueueScreenshot: (key: string) => void
  enqueueWebhook: (key: string) => void
}

/** Builds the state in memory that the three controllers share during one term. A new term builds all of it anew. */
function buildSharedState(options: TermOptions, { enqueueScreenshot, enqueueWebhook }: Enqueues) {
  const { settings, webhooks, log, storage, report = ignoreSilently, now = () => new Date(), metrics = {} } = options
  const store = webhookStore(options.http, options.namespace)
  const secretStore = new Resource(options.http, secrets, { namespace: options.namespace })
  const backlog = new Backlog()
  const limiter = new PostLimiter({ ...LIMITS, perAccount: settings.maxPostsPerAccount ?? LIMITS.total }, () => !backlog.isFull)
  backlog.onRoom = () => limiter.wake()
  backlog.onFull = (keys) => {
    for (const key of keys) enqueueScreenshot(key)
  }
  const agent = buildAgent(options)
  const dispatcher = agent.compose(fence(options.mayWrite))
  return {
    store,
    secrets: secretStore,
    /** Endpoints whose posts are paused because most recent ones failed. */
    circuitBreakers: new CircuitBreakers({
      now,
      onRelease: enqueueScreenshot,
      onChange(endpoint, isOpen) {
        metrics.onCircuit?.(isOpen)
        enqueueWebhook(endpoint)
      },
    }),
    /** Counters of Webhooks that are not in their status yet. */
    statistics: new Statistics({ store, webhooks, now, log }),
    /** Results that are not recorded yet. While there are too many, the limiter starts no post. */
    backlog,
    limiter,
    agent,
    post: (order: Post) => post(order, { dispatcher, timeoutMilliseconds: settings.timeoutMilliseconds }),
    events: new EventBodies({ linkBase: options.linkBase, store: options.openEventStore?.(options.mayWrite), log, report }),
    signingSecrets: new SigningSecrets({ secrets: secretStore, openingKeys: options.openingKeys, now }),
    onMissingSecret: enqueueWebhook,
    /** Absent without a bucket. */
    deliveryLog: storage && new DeliveryLog({ storage, now, log, report }),
    /** Deliveries without a Screenshot. Absent without a bucket. */
    undelivered: storage && new UndeliveredStore({ storage, report }),
    onProgress: enqueueScreenshot,
  }
}

function buildDeliveryWorker(options: DeliveryOptions, shared: ReturnType<typeof buildSharedState>): DeliveryWorker {
  const { screenshots, log, version, spans, now = () => new Date(), metrics = {} } = options
  const { limiter, circuitBreakers, deliveryLog, signingSecrets, onProgress, onMissingSecret } = shared
  return new DeliveryWorker({
    limiter,
    circuitBreakers,
    post: shared.post,
    deliveryLog,
    events: shared.events,
    signingSecrets,
    ...webhookFinder(options),
    exists: ({ metadata }) =>
      screenshots.lister.get(keyOf({ metadata }))?.metadata.uid === metadata.uid && !options.archiving?.isHeld({ metadata }),
    onProgress,
    onMissingSecret,
    now,
    random: Math.random,
    version,
    log,
    metrics,
    spans,
  })
}

const webhookFinder = ({ webhooks }: DeliveryOptions): WebhookFinder => ({
  findWebhook: (key) => webhooks.lister.get(key),
  findDefaultWebhook: (screenshot) => findDefaultWebhook(webhooksOf(screenshot, webhooks)),
})

/** Stores deliveries whose Screenshot is deleted, and those that failed. */
function handOvers(options: DeliveryOptions, store: UndeliveredStore, now: () => Date): Pick<ApplyDeps, 'keepOpen' | 'keepMissed'> {
  const finder = webhookFinder(options)
  return {
    async keepOpen(observed) {
      const open = findOpenDeliveries(observed, finder, now()) ?? []
      for (const delivery of open) await store.open(accountOf(observed.screenshot), delivery)
    },
    async keepMissed({ screenshot }, failed) {
      for (const { event, webhook: name, after } of failed) {
        const webhook = finder.findWebhook(`${screenshot.metadata.namespace}/${name}`) ?? finder.findDefaultWebhook(screenshot)
        const [missed] = toUndelivered(screenshot, { event, webhook: name, ...after }, finder)
        if (webhook && missed) await store.miss(accountOf(screenshot), webhookIdOf(webhook.metadata), missed)
      }
    },
  }
}

/** What the archive does with open deliveries. */
function openDeliveriesOf(
  options: DeliveryOptions,
  { deliveries, store, now }: { deliveries: RunningDeliveries; store: UndeliveredStore; now: () => Date },
): OpenDeliveries {
  const finder = webhookFinder(options)
  return {
    of(screenshot) {
      if (options.webhooks.lister.countByIndex(BY_ACCOUNT, accountOf(screenshot)) === 0) return []
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
      await mapConcurrently(open, CONCURRENT_WRITES, (delivery) => store.open(account, delivery))
    },
  }
}

function startUndelivered(
  options: TermOptions,
  shared: ReturnType<typeof buildSharedState>,
  { store, mayPost, now }: { store: UndeliveredStore; mayPost: () => boolean; now: () => Date },
): UndeliveredController {
  const { namespace, settings, webhooks, screenshots, storage, linkBase, report, log, version, controllerMetrics } = options
  const worker = new UndeliveredWorker({
    ...shared,
    ...{ store, namespace, now, version, log },
    recordedEvents: new RecordedEvents({ screenshots: screenshots.lister, storage, linkBase, report, now }),
    schedule: { delaysMilliseconds: settings.retryDelaysMilliseconds, timeoutMilliseconds: settings.timeoutMilliseconds },
    findWebhook: (key) => webhooks.lister.get(key),
    findDefaultWebhook: (account) => findDefaultWebhook(webhooks.lister.byIndex(BY_ACCOUNT, account)),
    random: Math.random,
    metrics: options.metrics ?? {},
  })
  return new UndeliveredController({ ...{ store, worker, namespace, mayPost, now, log, controllerMetrics }, limiter: shared.limiter })
}

function buildAgent({ settings, certificates, ownAddresses, resolve = resolverOf() }: DeliveryOptions) {
  return buildGuardedAgent({
    rules: toRules(settings),
    ownAddresses,
    resolve,
    ca: certificates,
    connections: LIMITS.total,
    connectMilliseconds: settings.timeoutMilliseconds,
    proxy: settings.proxyUrl === undefined ? undefined : new URL(settings.proxyUrl),
  })
}
