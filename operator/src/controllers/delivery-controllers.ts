/**
 * The controllers that post events: webhook, delivery and webhook-request. They share circuit breakers, the limit of concurrent posts, one
 * guarded HTTP agent and the delivery log, so they start and stop together in each term of leadership. Counters and lines of the log are
 * written at intervals.
 */

import { secrets } from '@tintype/crds/client/core-resources'
import { keyOf } from '@tintype/crds/client/kube-object'
import { Resource } from '@tintype/crds/client/resource'
import { accountOf } from '@tintype/crds/records/record'
import { findDefaultWebhook } from '@tintype/crds/webhooks/request-webhook'
import manifest from '../../package.json' with { type: 'json' }
import type { Deps, StartedWork, Work } from '../runtime/deps.ts'
import { Backlog } from './delivery/backlog.ts'
import { startDeliveryController, webhooksOf } from './delivery/controller.ts'
import { DeliveryWorker } from './delivery/delivery-worker.ts'
import { EventBodies, openEventStore } from './delivery/events/event-bodies.ts'
import { EventOrder } from './delivery/events/event-order.ts'
import { SCREENSHOTS_BY_ACCOUNT } from './delivery/events/recorded-events.ts'
import { CircuitBreakers } from './delivery/flow-control/circuit-breakers.ts'
import { KeyedLimiter } from './delivery/flow-control/keyed-limiter.ts'
import { buildGuardedAgent } from './delivery/http/guarded-agent.ts'
import { listOwnAddresses, loadCertificates, resolverOf } from './delivery/http/network.ts'
import { type Post, post } from './delivery/http/post.ts'
import { toRules } from './delivery/http/settings.ts'
import { SigningSecrets } from './delivery/http/signing-secrets.ts'
import type { DeliveryOptions } from './delivery/options.ts'
import { noteWithdrawal, openDeliveryLog, startRequests } from './delivery/start-requests.ts'
import { Statistics } from './delivery/statistics.ts'
import { createDeliveryMetrics } from './delivery/telemetry/metrics.ts'
import { startWebhookController, webhookStore } from './webhook/controller.ts'
import { BY_ACCOUNT } from './webhook/limit.ts'

/** Limits of concurrent posts, in total and per endpoint. */
const LIMITS = { total: 256, perKey: 8 }
const STATISTICS_MILLISECONDS = 5_000

/** Creates these controllers. Call it once per process. */
export function createDeliveryControllers({
  config,
  http,
  log,
  registry,
  controllerMetrics,
  reflectors,
  keys,
  events,
  isLeader,
  storage,
  eventOrder,
  report,
  spans,
}: Deps): Work {
  return prepareDelivery({
    http,
    namespace: config.namespace,
    screenshots: reflectors.screenshots,
    webhooks: reflectors.webhooks,
    linkBase: { publicUrl: config.publicUrl, ring: keys.downloadKeys },
    openingKeys: keys.openingKeys,
    settings: config.webhook,
    certificates: loadCertificates(config.webhook.extraCaFile),
    ownAddresses: listOwnAddresses(),
    version: manifest.version,
    log: log.child({ component: 'delivery' }),
    events,
    isLeader,
    eventOrder,
    eventStore: openEventStore(config.storage),
    statisticsMilliseconds: config.webhook.flushMilliseconds,
    storage,
    report,
    metrics: createDeliveryMetrics(registry),
    spans,
    controllerMetrics,
  })
}

/** Adds the indexes that deliveries need. `start` begins a term; both reflectors must have synced by then. */
export function prepareDelivery(options: DeliveryOptions): Work {
  options.webhooks.lister.addIndex(BY_ACCOUNT, accountOf)
  options.screenshots.lister.addIndex(SCREENSHOTS_BY_ACCOUNT, accountOf)
  const { eventOrder = new EventOrder(options) } = options
  return { start: (signal) => startTerm({ ...options, eventOrder }, signal) }
}

function startTerm(options: DeliveryOptions, signal: AbortSignal): StartedWork {
  const { settings, screenshots, webhooks, log } = options
  const { now = () => new Date(), metrics = {} } = options
  const secretStore = new Resource(options.http, secrets, { namespace: options.namespace })
  const circuitBreakers = new CircuitBreakers({
    now,
    onRelease: (key) => deliveries.controller.enqueue(key),
    onChange(endpoint, isOpen) {
      metrics.onCircuit?.(isOpen)
      hooks.enqueue(endpoint)
    },
  })
  const isCircuitOpen = (key: string) => circuitBreakers.isOpen(key)
  const hooks = startWebhookController({
    ...options,
    secrets: secretStore,
    rules: toRules(settings),
    isCircuitOpen,
    disable: settings,
    now,
  })
  const statistics = new Statistics({ store: webhookStore(options.http, options.namespace), webhooks, now, log })
  const backlog = new Backlog()
  const limiter = new KeyedLimiter(LIMITS, () => !backlog.isFull)
  backlog.onRoom = () => limiter.wake()
  backlog.onFull = (keys) => {
    for (const key of keys) deliveries.controller.enqueue(key)
  }
  const agent = buildAgent(options)
  const postOnce = (order: Post) => post(order, { dispatcher: agent, timeoutMilliseconds: settings.timeoutMilliseconds })
  const signingSecrets = new SigningSecrets({ secrets: secretStore, openingKeys: options.openingKeys, now })
  const onMissingSecret = (key: string) => hooks.enqueue(key)
  const deliveryLog = openDeliveryLog(options, now)
  const deliveryWorker = new DeliveryWorker({
    limiter,
    circuitBreakers,
    post: postOnce,
    deliveryLog,
    events: new EventBodies({ linkBase: options.linkBase, store: options.eventStore, log, report: options.report }),
    signingSecrets,
    findWebhook: (key) => webhooks.lister.get(key),
    findDefaultWebhook: (screenshot) => findDefaultWebhook(webhooksOf(screenshot, webhooks)),
    exists: ({ metadata }) => screenshots.lister.get(keyOf({ metadata }))?.metadata.uid === metadata.uid,
    onProgress: (key) => deliveries.controller.enqueue(key),
    onMissingSecret,
    now,
    random: Math.random,
    version: options.version,
    log,
    metrics,
    spans: options.spans,
  })
  const mayPost = () => !signal.aborted && options.isLeader()
  const deliveries = startDeliveryController({
    ...options,
    metrics,
    deliveryWorker,
    backlog,
    circuitBreakers,
    statistics,
    mayPost,
    now,
    onWithdrawn: (key, screenshot, change) => noteWithdrawal(webhooks.lister.get(key), screenshot, change, deliveryLog),
  })
  const store = webhookStore(options.http, options.namespace)
  const requests = startRequests(options, { post: postOnce, signingSecrets, onMissingSecret, deliveryLog, store, limiter, mayPost, now })
  const timer = setInterval(() => {
    circuitBreakers.sweep()
    void statistics.flush()
    void deliveryLog?.flush()
  }, options.statisticsMilliseconds ?? STATISTICS_MILLISECONDS)
  const stop = async () => {
    clearInterval(timer)
    await Promise.all([limiter.close(), hooks.stop(settings.timeoutMilliseconds)])
    await Promise.all([deliveries.stop(), requests.controller.stop(settings.timeoutMilliseconds)])
    await Promise.all([statistics.flush(), deliveryLog?.flush()])
    await agent.destroy()
    circuitBreakers.close()
  }
  return { controllers: [hooks, deliveries.controller, requests.controller], stop }
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
