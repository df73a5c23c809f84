// Open and failed deliveries of a Screenshot, as the bucket stores them. Pure.

import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { EventType } from '@tintype/crds/schema/event-types'
import { eventIdOf, eventTimeOf } from '@tintype/crds/webhooks/events'
import { REQUEST_WEBHOOK } from '@tintype/crds/webhooks/request-webhook'
import type { Undelivered } from '@tintype/crds/webhooks/undelivered'
import { type Candidate, isSettled } from '../decide.ts'
import { toDeliveryId } from '../delivery-worker.ts'
import type { WebhookFinder } from '../endpoint.ts'
import type { Observed } from '../observe.ts'

/**
 * The open deliveries of a Screenshot that leaves the Kubernetes API. Undefined while one of them is posted, or its result is not recorded:
 * it would be posted twice.
 */
export function findOpenDeliveries({ screenshot, candidates }: Observed, finder: WebhookFinder, now: Date): Undelivered[] | undefined {
  if (candidates.some(({ progress }) => progress?.state === 'posting' || progress?.state === 'ended')) return undefined
  return candidates
    .filter(({ isReceiver, entry }) => isReceiver && !isSettled(entry))
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
    ? findDefaultWebhook(screenshot)
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

/** The Screenshot as its record shows it: with these deliveries only. */
export function withOpenDeliveries(screenshot: Screenshot, open: readonly Undelivered[]): Screenshot {
  const { deliveries: _, ...status } = screenshot.status ?? {}
  const deliveries: NonNullable<Screenshot['status']>['deliveries'] = {}
  for (const { type, webhook, attempts, at } of open) deliveries[type] = { ...deliveries[type], [webhook]: { attempts, at, state: 'open' } }
  return { ...screenshot, status: open.length === 0 ? status : { ...status, deliveries } }
}
