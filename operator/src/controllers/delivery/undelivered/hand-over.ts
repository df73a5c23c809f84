// Open and failed deliveries of a Screenshot, as the bucket stores them.

import { screenshotIdOf, webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import type { EventType } from '@tintype/crds/schema/event-types'
import { REQUEST_WEBHOOK, type Undelivered } from '@tintype/crds/webhooks/deliveries'
import { eventIdOf, eventTimeOf } from '@tintype/crds/webhooks/events'
import { TerminalError } from '../../../controller-runtime/controller.ts'
import type { OpenDeliveries } from '../../../storage/archiving.ts'
import type { ApplyDeps } from '../apply.ts'
import { type Candidate, hasEnded } from '../decide.ts'
import { toDeliveryId } from '../delivery-worker.ts'
import type { WebhookFinder } from '../endpoint.ts'
import type { Observed } from '../observe.ts'
import type { UndeliveredStore } from './undelivered-store.ts'

const CONCURRENT_WRITES = 16

/**
 * The open deliveries of a Screenshot that leaves the Kubernetes API. Undefined while one of them is posted, or its result is not recorded:
 * it would be posted twice.
 */
export function findOpenDeliveries({ screenshot, candidates }: Observed, finder: WebhookFinder, now: Date): Undelivered[] | undefined {
  if (candidates.some(({ progress }) => progress?.state === 'posting' || progress?.state === 'ended')) return undefined
  return candidates
    .filter(({ isReceiver, entry }) => isReceiver && !hasEnded(entry))
    .flatMap((candidate) => toUndelivered(screenshot, { ...candidate, ...toState(candidate, now) }, finder))
}

/** An attempt that waits for its turn was recorded, but does not count. */
function toState({ entry, progress }: Candidate, now: Date): Pick<Undelivered, 'attempts' | 'at'> {
  if (progress?.state === 'waiting') return { attempts: progress.attempt - 1, at: now.toISOString() }
  return entry ?? { attempts: 0, at: now.toISOString() }
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
      delivery: toDeliveryId({ at: eventTimeOf(screenshot, type) }, { id: event }, webhook),
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

/** What storing deliveries needs. */
export interface HandOverDeps extends WebhookFinder {
  undelivered: Pick<UndeliveredStore, 'open' | 'miss'>
  now: () => Date
}

/** Stores deliveries whose Screenshot is deleted, and those that failed. */
export const createHandOver = (deps: HandOverDeps): Pick<ApplyDeps, 'keepOpen' | 'keepMissed'> => ({
  async keepOpen(observed) {
    const open = findOpenDeliveries(observed, deps, deps.now()) ?? []
    for (const delivery of open) await deps.undelivered.open(accountOf(observed.screenshot), delivery)
  },
  async keepMissed({ screenshot }, failed) {
    const account = accountOf(screenshot)
    for (const { event, webhook: name, after } of failed) {
      const webhook = deps.findWebhook(`${screenshot.metadata.namespace}/${name}`) ?? deps.findDefaultWebhook(account)
      const [missed] = toUndelivered(screenshot, { event, webhook: name, ...after }, deps)
      if (webhook && missed) await deps.undelivered.miss(account, webhookIdOf(webhook.metadata), missed)
    }
  },
})

/** What the archive does with open deliveries. @param observe collects the state of a Screenshot; undefined if it was deleted */
export const createOpenDeliveries = (observe: (screenshot: Screenshot) => Observed | undefined, deps: HandOverDeps): OpenDeliveries => ({
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
