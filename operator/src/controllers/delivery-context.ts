import { secrets as secretKind } from '@tintype/crds/client/core-resources'
import { webhooks as webhookKind } from '@tintype/crds/client/kinds'
import type { Log } from '@tintype/crds/client/log'
import { Resource } from '@tintype/crds/client/resource'
import { fence, type MayWrite } from '@tintype/crds/runtime/fence'
import { findDefaultWebhook } from '@tintype/crds/webhooks/request-webhook'
import manifest from '../../package.json' with { type: 'json' }
import { ACCOUNT_INDEX } from '../kube/account-index.ts'
import type { Reflectors } from '../kube/reflectors.ts'
import type { Config } from '../runtime/config.ts'
import type { Deps } from '../runtime/deps.ts'
import type { Term } from '../runtime/term.ts'
import type { WebhookFinder } from './delivery/endpoint.ts'
import { EventBodies, type EventStore } from './delivery/events/event-bodies.ts'
import { RecordedEvents } from './delivery/events/recorded-events.ts'
import { CircuitBreakers } from './delivery/flow-control/circuit-breakers.ts'
import { PostLimiter } from './delivery/flow-control/post-limiter.ts'
import { buildGuardedAgent, type Certificates } from './delivery/http/guarded-agent.ts'
import type { Resolve } from './delivery/http/network.ts'
import { type Post, post } from './delivery/http/post.ts'
import { type DeliverySettings, toRules } from './delivery/http/settings.ts'
import { SigningSecrets } from './delivery/http/signing-secrets.ts'
import { Backlog } from './delivery/progress.ts'
import { Statistics } from './delivery/statistics.ts'
import { DeliveryLog } from './delivery/telemetry/delivery-log.ts'
import type { DeliveryMetrics } from './delivery/telemetry/metrics.ts'
import { UndeliveredStore } from './delivery/undelivered/undelivered-store.ts'

/** Dependencies of the controllers that post events. */
export interface DeliveryDeps extends Pick<Deps, 'controllerMetrics' | 'clock' | 'report' | 'archiving' | 'eventOrder' | 'spans'> {
  config: Pick<Config, 'namespace' | 'publicUrl'> & { webhook: DeliverySettings & { flushMilliseconds: number } }
  reflectors: Pick<Reflectors, 'screenshots' | 'webhooks'>
  keys: Pick<Deps['keys'], 'downloadKeys' | 'openingKeys'>
  metrics: DeliveryMetrics
  log: Log
}

/** What posts use outside the cluster. Tests replace it. */
export interface Surroundings {
  /** CA certificates for receivers, PEM. A function returns the present ones. */
  certificates: Certificates
  /** IP addresses of this pod, which are forbidden for webhooks. */
  ownAddresses: readonly string[]
  resolve: Resolve
  openEventStore: (mayWrite: MayWrite) => EventStore
}

export interface Enqueues {
  screenshot: (key: string) => void
  webhook: (key: string) => void
}

/** Limits of concurrent posts, in total and per endpoint. The settings have that of an account. */
const LIMITS = { total: 256, perEndpoint: 8 }

/** Builds what the controllers share during one term, by subject. A new term builds all of it anew. */
export function createContext(deps: DeliveryDeps & Term, surroundings: Surroundings, enqueue: Enqueues) {
  const { config, keys, http, storage, log, report, clock, metrics, mayWrite } = deps
  const { namespace, webhook: settings } = config
  const { screenshots, webhooks } = deps.reflectors
  const { timeoutMilliseconds, retryDelaysMilliseconds: delaysMilliseconds } = settings
  const now = () => new Date(clock.wall())
  const linkBase = { publicUrl: config.publicUrl, ring: keys.downloadKeys }
  const store = new Resource(http, webhookKind, { namespace })
  const secrets = new Resource(http, secretKind, { namespace })
  const rules = toRules(settings)
  const finder: WebhookFinder = {
    findWebhook: (key) => webhooks.lister.get(key),
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
    onRelease: enqueue.screenshot,
    onChange(endpoint, isOpen) {
      metrics.openCircuits.inc(isOpen ? 1 : -1)
      if (isOpen) metrics.circuitOpenings.inc()
      enqueue.webhook(endpoint)
    },
  })
  return {
    deps,
    finder,
    kube: { store, secrets, rules },
    /** How a post is made. */
    posting: {
      ...{ now, limiter, circuitBreakers },
      schedule: { delaysMilliseconds, timeoutMilliseconds },
      random: Math.random,
      version: manifest.version,
      post: (order: Post) => post(order, { dispatcher, timeoutMilliseconds }),
      signingSecrets: new SigningSecrets({ secrets, openingKeys: keys.openingKeys, now }),
      onMissingSecret: enqueue.webhook,
    },
    /** What is posted. */
    events: {
      linkBase,
      eventBodies: new EventBodies({ linkBase, store: surroundings.openEventStore(mayWrite), log, report }),
      recordedEvents: new RecordedEvents({ screenshots: screenshots.lister, storage, linkBase, report, now }),
    },
    /** Where results go. The statistics are the counters of Webhooks that are not in their status yet. */
    results: {
      ...{ log, metrics },
      statistics: new Statistics({ store, webhooks, now, log }),
      deliveryLog: new DeliveryLog({ storage, now, log, report }),
    },
    /** Results that are not recorded yet. While there are too many, the limiter starts no post. */
    backlog,
    /** Deliveries without a Screenshot. */
    undelivered: new UndeliveredStore({ storage, report }),
    agent,
  }
}
