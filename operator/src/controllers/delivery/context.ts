import { fence, type MayWrite } from '@tintype/crds/runtime/fence'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { findDefaultWebhook } from '@tintype/crds/webhooks/deliveries'
import manifest from '../../../package.json' with { type: 'json' }
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import type { Deps, TermDeps } from '../../runtime/deps.ts'
import type { WebhookFinder } from './events/receivers.ts'
import { EventBodies, type EventStore, RecordedEvents } from './events/recorded-events.ts'
import { CircuitBreakers, PostLimiter } from './flow-control.ts'
import { buildGuardedAgent, type Certificates } from './http/guarded-agent.ts'
import { type Resolve, toRules } from './http/network.ts'
import { type Post, type PostOutcome, post } from './http/post.ts'
import { SigningSecrets } from './http/signing-secrets.ts'
import { Backlog } from './progress.ts'
import { Statistics } from './statistics.ts'
import { DeliveryLog } from './telemetry/delivery-log.ts'
import type { DeliveryMetrics } from './telemetry/metrics.ts'
import { UndeliveredStore } from './undelivered-store.ts'

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
export function createContext(deps: DeliveryDeps & TermDeps, surroundings: Surroundings, enqueue: Enqueues) {
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
