import type { ScreenshotEventType } from '@tintype/crds/event-types'
import { eventTimeOf } from '@tintype/crds/events'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'

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

/** True when the webhook is to be told: active, and subscribed to that type no later than it happened. */
export function isReceiver(webhook: Webhook, { event, at }: Occurrence): boolean {
  if (!isActive(webhook) || !webhook.spec.events.includes(event)) return false
  const { activeSince, subscriptions } = webhook.status ?? {}
  // Between the change of a spec and the status that follows from it, a type that was added has no instant yet: nobody is told.
  const since = subscriptions === undefined ? activeSince : subscriptions[event]
  return since !== undefined && activeSince !== undefined && new Date(since) <= at
}
