import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import type { ScreenshotEventType } from '@tintype/crds/schema/event-types'
import { eventTimeOf } from '@tintype/crds/webhooks/events'
import { isRequestedEvent } from '@tintype/crds/webhooks/request-webhook'
import type { FollowsStart } from './event-order.ts'

/** Something that happened to a Screenshot. */
export interface Occurrence {
  event: ScreenshotEventType
  at: Date
  /** The latest instant that it may have happened at by the API server's clock, where that is not `at`. */
  latest?: Date
  /** Whether it came after a webhook's start; undefined, like its answer, when only the times can tell. */
  follows?: (webhook: Webhook) => boolean | undefined
}

/** The API server keeps creation times to the second. */
const CREATION_MILLISECONDS = 1_000

/** What has happened to a Screenshot so far, first things first. */
export function toOccurrences(screenshot: Screenshot, followsStart?: FollowsStart): Occurrence[] {
  const { phase } = screenshot.status ?? {}
  const events: ScreenshotEventType[] = ['screenshot.queued']
  if (phase === 'Completed') events.push('screenshot.completed')
  if (phase === 'Failed') events.push('screenshot.failed')
  return events.map((event) => ({
    event,
    at: eventTimeOf(screenshot, event),
    ...(event === 'screenshot.queued' ? { latest: endOfCreation(screenshot) } : {}),
    ...(followsStart ? { follows: (webhook: Webhook) => followsStart(webhook, screenshot, event) } : {}),
  }))
}

/** The end of the second in which an object was created. */
const endOfCreation = ({ metadata }: Pick<Screenshot, 'metadata'>): Date =>
  new Date(Date.parse(metadata.creationTimestamp) + CREATION_MILLISECONDS - 1)

/**
 * True when a webhook of the account is to be told: active, and subscribed to that type when it happened.
 * @param entry the entry of the delivery in status.deliveries. Deliveries started since activation continue.
 */
export function isReceiver(webhook: Webhook, occurrence: Occurrence, entry?: DeliveryEntry): boolean {
  const { event } = occurrence
  if (webhook.spec.isDefault) return false
  if (!isActive(webhook) || !webhook.spec.events.includes(event)) return false
  const { activeSince, subscriptions } = webhook.status ?? {}
  // Between the change of a spec and the status that follows from it, a type that was added has no instant yet: nobody is told.
  const since = subscriptions === undefined ? activeSince : subscriptions[event]
  return since !== undefined && activeSince !== undefined && isSince(webhook, new Date(since), occurrence, entry)
}

function isSince(webhook: Webhook, since: Date, { at, latest = at, follows }: Occurrence, entry?: DeliveryEntry): boolean {
  return follows?.(webhook) ?? (since <= latest || (entry !== undefined && since <= new Date(entry.at)))
}

/**
 * True when the request's own address is to be told: it asked for that event, and the account's default webhook, which signs, is active. One
 * that has been active since it was made keeps nothing back: the request itself was the subscription.
 */
export function isRequestReceiver(screenshot: Screenshot, occurrence: Occurrence, signer: Webhook | undefined): boolean {
  const activeSince = signer?.status?.activeSince
  if (!isRequestedEvent(screenshot, occurrence.event) || !signer || activeSince === undefined || !isActive(signer)) return false
  const wasNeverOff = Date.parse(activeSince) <= Date.parse(signer.metadata.creationTimestamp) + CREATION_MILLISECONDS
  return wasNeverOff || isSince(signer, new Date(activeSince), occurrence)
}
