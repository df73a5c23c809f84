import { screenshotIdOf, webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { missedKey, missedPrefix, OPEN_PREFIX, parseOpenKey } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import type { EventType } from '@tintype/crds/schema/event-types'
import { listPages, readParsed } from '@tintype/crds/storage/stored-objects'
import { openKey, openPrefix, parseUndelivered, REQUEST_WEBHOOK, type Undelivered } from '@tintype/crds/webhooks/deliveries'
import { eventIdOf, eventTimeOf } from '@tintype/crds/webhooks/events'
import { TerminalError } from '../../controller-runtime/controller.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import type { OpenDeliveries } from '../../storage/archiving.ts'
import { type DeliveryStateChange, hasEnded } from './decide.ts'
import { toDeliveryId, type WebhookFinder } from './events/receivers.ts'
import type { Observed } from './progress.ts'

type UndeliveredStoreDeps = Pick<TermDeps, 'storage' | 'report'>

/** Open deliveries of one endpoint that are read at a time. */
const BATCH = 100

/** Open and missed deliveries in the bucket. Every method throws a RetryableError if the bucket is unavailable. */
export class UndeliveredStore {
  readonly #deps: UndeliveredStoreDeps
  /** Called with the prefix of an endpoint that has a new open delivery. */
  onOpened: (prefix: string) => void = () => undefined

  constructor(deps: UndeliveredStoreDeps) {
    this.#deps = deps
  }

  async open(account: string, delivery: Undelivered): Promise<void> {
    await this.#deps.storage.write(openKey(account, delivery), JSON.stringify(delivery))
    this.onOpened(openPrefix(account, delivery))
  }

  /** Replaces an open delivery. A crash in between leaves both: the attempt and those after it may be repeated. */
  async replace(key: string, account: string, delivery: Undelivered): Promise<void> {
    await this.open(account, delivery)
    if (openKey(account, delivery) !== key) await this.close(key)
  }

  async close(key: string): Promise<void> {
    await this.#deps.storage.remove([key])
  }

  async miss(account: string, webhookId: string, delivery: Undelivered): Promise<void> {
    const { manual: _, ...missed } = delivery
    await this.#deps.storage.write(missedKey(account, webhookId, delivery.delivery), JSON.stringify(missed))
  }

  async forgetMissed(account: string, webhookId: string, delivery: string): Promise<void> {
    await this.#deps.storage.remove([missedKey(account, webhookId, delivery)])
  }

  /** Reads an object; undefined if it does not exist or is not valid. */
  read(key: string): Promise<Undelivered | undefined> {
    return readParsed('undelivered', key, (text) => parseUndelivered(text) ?? 'content', this.#deps)
  }

  /** The open deliveries of an endpoint that are due first, in order. */
  async listOpen(prefix: string): Promise<{ key: string; at: Date }[]> {
    const { storage, report } = this.#deps
    const keys = await storage.list(prefix, { limit: BATCH })
    return keys.flatMap((key) => {
      const parsed = parseOpenKey(key)
      if (!parsed) report({ kind: 'undelivered', reason: 'key', key })
      return parsed ? [{ key, at: parsed.at }] : []
    })
  }

  /** Prefixes of all endpoints that have open deliveries. */
  async *endpoints(): AsyncGenerator<string> {
    for await (const account of this.#list(OPEN_PREFIX, true)) yield* this.#list(account, true)
  }

  /** Keys of the missed deliveries of a Webhook. */
  missed(account: string, webhookId: string): AsyncGenerator<string> {
    return this.#list(missedPrefix(account, webhookId), false)
  }

  async *#list(prefix: string, folders: boolean): AsyncGenerator<string> {
    for await (const found of listPages(prefix, this.#deps.storage, { folders })) {
      yield* folders ? found.filter((folder) => folder.endsWith('/')) : found
    }
  }
}

// Open and failed deliveries of a Screenshot, as the bucket stores them.

const CONCURRENT_WRITES = 16

interface StoreContext extends WebhookFinder {
  undelivered: UndeliveredStore
  now: () => Date
}

/**
 * The open deliveries of a Screenshot that leaves the Kubernetes API. Undefined while one of them is posted, or its result is not recorded:
 * it would be posted twice.
 */
export function findOpenDeliveries({ screenshot, candidates }: Observed, finder: WebhookFinder, now: Date): Undelivered[] | undefined {
  if (candidates.some(({ progress }) => progress?.state === 'posting' || progress?.state === 'ended')) return undefined
  return candidates
    .filter(({ isReceiver, entry }) => isReceiver && !hasEnded(entry))
    .flatMap(({ entry, ...candidate }) =>
      toUndelivered(screenshot, { ...candidate, ...(entry ?? { attempts: 0, at: now.toISOString() }) }, finder),
    )
}

/** Empty if the webhook was deleted. */
export function toUndelivered(
  screenshot: Screenshot,
  { event: type, webhook: name, attempts, at }: Pick<Undelivered, 'webhook' | 'attempts' | 'at'> & { event: EventType },
  { findWebhook, findDefaultWebhook }: WebhookFinder,
): Undelivered[] {
  const isForRequest = name === REQUEST_WEBHOOK
  const webhook: Webhook | undefined = isForRequest
    ? findDefaultWebhook(accountOf(screenshot))
    : findWebhook(`${screenshot.metadata.namespace}/${name}`)
  const event = eventIdOf(screenshot, type)
  if (!webhook) return []
  return [
    {
      version: 1,
      delivery: toDeliveryId(eventTimeOf(screenshot, type), event, webhook),
      event,
      type,
      screenshot: screenshotIdOf(screenshot.metadata),
      webhook: name,
      ...(isForRequest && screenshot.spec.webhookUrl !== undefined ? { url: screenshot.spec.webhookUrl } : {}),
      attempts,
      at: new Date(at).toISOString(),
    },
  ]
}

/** Stores the open deliveries of a Screenshot that is deleted. @throws RetryableError */
export async function keepOpen(observed: Observed, deps: StoreContext): Promise<void> {
  const open = findOpenDeliveries(observed, deps, deps.now()) ?? []
  for (const delivery of open) await deps.undelivered.open(accountOf(observed.screenshot), delivery)
}

/** Stores deliveries that failed, so that they can be redelivered. @throws RetryableError */
export async function keepMissed(
  { screenshot }: Observed,
  failed: readonly DeliveryStateChange[],
  { findWebhook, findDefaultWebhook, undelivered }: StoreContext,
): Promise<void> {
  const account = accountOf(screenshot)
  for (const { event, webhook: name, after } of failed) {
    const webhook = findWebhook(`${screenshot.metadata.namespace}/${name}`) ?? findDefaultWebhook(account)
    const [missed] = toUndelivered(screenshot, { event, webhook: name, ...after }, { findWebhook, findDefaultWebhook })
    if (webhook && missed) await undelivered.miss(account, webhookIdOf(webhook.metadata), missed)
  }
}

/** What the archive does with open deliveries. @param observe collects the state of a Screenshot; undefined if it was deleted */
export const createOpenDeliveries = (observe: (screenshot: Screenshot) => Observed | undefined, deps: StoreContext): OpenDeliveries => ({
  of(screenshot) {
    try {
      const observed = observe(screenshot)
      return observed ? findOpenDeliveries(observed, deps, deps.now()) : []
    } catch (error) {
      // The delivery controller cannot read it either, so it has no deliveries. It must not stop the archive.
      if (error instanceof TerminalError) return []
      throw error
    }
  },
  async keep(account, open) {
    await mapConcurrently(open, CONCURRENT_WRITES, (delivery) => deps.undelivered.open(account, delivery))
  },
})

/** The Screenshot as its record shows it: with these deliveries only. */
export function withOpenDeliveries<T extends Screenshot>(screenshot: T, open: readonly Undelivered[]): T {
  const { deliveries: _, ...status } = screenshot.status ?? {}
  const deliveries: NonNullable<Screenshot['status']>['deliveries'] = {}
  for (const { type, webhook, attempts, at } of open) deliveries[type] = { ...deliveries[type], [webhook]: { attempts, at, state: 'open' } }
  return { ...screenshot, status: open.length === 0 ? status : { ...status, deliveries } }
}
