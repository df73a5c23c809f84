// Webhooks and deliveries as one part of the operator: two controllers over shared caches, one way out, and counters that are written now
// and then. It works for as long as its operator leads.

import { secrets } from '@tintype/crds/client/core-resources'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import type { LinkBase } from '@tintype/crds/events'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/record'
import type { Controller } from '../controller/controller.ts'
import type { ControllerMetrics, WorkQueueMetrics } from '../controller/metrics.ts'
import { startWebhookController, webhookStore } from '../webhook/controller.ts'
import { SCREENSHOTS_BY_ACCOUNT, startDeliveryController } from './controller.ts'
import { Courier } from './courier.ts'
import { EventLibrary, type EventStore } from './event-bytes.ts'
import { buildGuardedAgent } from './guarded-agent.ts'
import { Lanes } from './lanes.ts'
import type { DeliveryMetrics } from './metrics.ts'
import { BY_ACCOUNT } from './observe.ts'
import { post } from './post.ts'
import { type Resolve, resolverOf } from './resolve.ts'
import { type DeliverySettings, toRules } from './settings.ts'
import { SigningSecrets } from './signing-secrets.ts'
import { Statistics } from './statistics.ts'

export interface DeliveryOptions {
  http: KubeHttp
  namespace: string
  screenshots: Reflector<Screenshot>
  webhooks: Reflector<Webhook>
  linkBase: LinkBase
  settings: DeliverySettings
  /** PEM certificates that vouch for receivers (trust.ts). */
  certificates: string[]
  /** Addresses of this pod, which no webhook may mean (trust.ts). */
  ownAddresses: readonly string[]
  version: string
  log: Log
  eventStore?: EventStore | undefined
  metrics?: DeliveryMetrics
  controllerMetrics?: ControllerMetrics & WorkQueueMetrics
  resolve?: Resolve
  /** Wall clock and chance. */
  now?: () => Date
  random?: () => number
}

/** Posts at once, in all and to one endpoint (contract 1.3). */
const LIMITS = { total: 256, perLane: 8 }
const STATISTICS_MILLISECONDS = 5_000

/** See the head of this file. One for the process; `run` once for each term of leadership. */
export class Delivery {
  readonly #options: DeliveryOptions
  #controllers: Controller[] = []

  constructor(options: DeliveryOptions) {
    this.#options = options
    options.webhooks.lister.addIndex(BY_ACCOUNT, accountOf)
    options.screenshots.lister.addIndex(SCREENSHOTS_BY_ACCOUNT, accountOf)
  }

  /** The controllers of the current term, for the probe. */
  get controllers(): readonly Controller[] {
    return this.#controllers
  }

  /**
   * Posts until the signal ends; resolves when what was under way has ended and is written down, a post's deadline later at most. Both
   * reflectors must have synced.
   */
  async run(signal: AbortSignal): Promise<void> {
    const end = this.#startTerm()
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    await end()
  }

  #startTerm(): () => Promise<void> {
    const { http, namespace, screenshots, webhooks, settings, now = () => new Date(), metrics = {}, controllerMetrics, log } = this.#options
    const secretStore = new Resource(http, secrets, { namespace })
    const rules = toRules(settings)
    const hooks = startWebhookController({ http, namespace, webhooks, secrets: secretStore, rules, now, log, controllerMetrics })
    const statistics = new Statistics({ store: webhookStore(http, namespace), webhooks, now, log })
    const lanes = new Lanes(LIMITS)
    const agent = this.#buildAgent()
    const courier = new Courier({
      lanes,
      post: (order) => post(order, { dispatcher: agent, timeoutMilliseconds: settings.timeoutMilliseconds }),
      events: new EventLibrary({ linkBase: this.#options.linkBase, store: this.#options.eventStore, log }),
      signingSecrets: new SigningSecrets(secretStore, now),
      findWebhook: (key) => webhooks.lister.get(key),
      onProgress: (key) => deliveries.controller.enqueue(key),
      onMissingSecret: (key) => hooks.enqueue(key),
      now,
      random: this.#options.random ?? Math.random,
      version: this.#options.version,
      log,
      metrics,
    })
    const shared = { http, namespace, screenshots, webhooks, settings, now, log, metrics, controllerMetrics }
    const deliveries = startDeliveryController({ ...shared, courier, statistics })
    const timer = setInterval(() => void statistics.flush(), STATISTICS_MILLISECONDS)
    this.#controllers = [hooks, deliveries.controller]
    return async () => {
      deliveries.stopPosting()
      clearInterval(timer)
      await Promise.all([lanes.close(), hooks.stop(settings.timeoutMilliseconds)])
      await deliveries.stop()
      await statistics.flush()
      await agent.destroy()
      this.#controllers = []
    }
  }

  #buildAgent() {
    const { settings, certificates, ownAddresses, resolve = resolverOf() } = this.#options
    return buildGuardedAgent({
      rules: toRules(settings),
      ownAddresses,
      resolve,
      ca: certificates,
      connections: LIMITS.total,
      connectMilliseconds: settings.timeoutMilliseconds,
    })
  }
}
