import type { ScreenshotEventType } from '@tintype/crds/event-types'
import { eventTimeOf } from '@tintype/crds/events'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { asksFor } from '@tintype/crds/request-webhook'

/** Something that happened to a Screenshot. */
export interface Occurrence {
  event: ScreenshotEventType
  at: Date
}

/** What has happened to a Screenshot so far, first things first. */
export function toOccurrences(screenshot: Screenshot): Occurrence[] {
  const { phase } = screenshot.status ?? {}
  const events: ScreenshotEventType[] = ['screenshot.queued']
  if (phase === 'Completed') events.push('screenshot.completed')
  if (phase === 'Failed') events.push('screenshot.failed')
  return events.map((event) => ({ event, at: eventTimeOf(screenshot, event) }))
}

/** True when a webhook of the account is to be told: active, and subscribed to that type no later than it happened. */
export function isReceiver(webhook: Webhook, { event, at }: Occurrence): boolean {
  if (webhook.spec.isDefault) return false
  if (!isActive(webhook) || !webhook.spec.events.includes(event)) return false
  const { activeSince, subscriptions } = webhook.status ?? {}
  // Between the change of a spec and the status that follows from it, a type that was added has no instant yet: nobody is told.
  const since = subscriptions === undefined ? activeSince : subscriptions[event]
  return since !== undefined && activeSince !== undefined && new Date(since) <= at
}

/** Of a Webhook's creation only the second is known. */
const CREATION_MILLISECONDS = 1_000

/**
 * True when the request's own address is to be told: it asked for that event, and the account's default webhook, which signs, is active. One
 * that has been active since it was made keeps nothing back: the request itself was the subscription.
 */
export function isRequestReceiver(screenshot: Screenshot, { event, at }: Occurrence, signer: Webhook | undefined): boolean {
  const activeSince = signer?.status?.activeSince
  if (!asksFor(screenshot, event) || !signer || activeSince === undefined || !isActive(signer)) return false
  const wasNeverOff = Date.parse(activeSince) <= Date.parse(signer.metadata.creationTimestamp) + CREATION_MILLISECONDS
  return wasNeverOff || new Date(activeSince) <= at
}
