import { derivedId } from '@tintype/crds/identifiers/ids'
import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { isRestored } from '@tintype/crds/records/named-record'
import { accountOf } from '@tintype/crds/records/record'
import { type EventType, eventsOfStatus, isCreationEvent } from '@tintype/crds/schema/event-types'
import { isRequestedEvent, REQUEST_WEBHOOK } from '@tintype/crds/webhooks/deliveries'
import { eventSubjectOf, eventTimeOf } from '@tintype/crds/webhooks/events'
import type { FollowsStart } from './event-order.ts'

/** An event of a Screenshot and its time. */
export interface Occurrence {
  event: EventType
  at: Date
  /** Latest possible time by the API server's clock, if that is not `at`. */
  latest?: Date
  /** Whether it came after a webhook's start; absent or undefined: timestamps decide. */
  follows?: (webhook: Webhook) => boolean | undefined
}

/** Creation timestamps have a resolution of one second. */
const CREATION_MILLISECONDS = 1_000

/** Events of a Screenshot so far, in order. The end of a restored Screenshot was an event of its record. */
export function toOccurrences(screenshot: Screenshot, followsStart?: FollowsStart): Occurrence[] {
  return eventsOf(screenshot).map((event) => ({
    event,
    at: eventTimeOf(screenshot, event),
    ...(isCreationEvent(event) ? { latest: endOfCreation(screenshot) } : {}),
    ...(followsStart ? { follows: (webhook: Webhook) => followsStart(webhook, screenshot, event) } : {}),
  }))
}

const eventsOf = (screenshot: Screenshot): EventType[] =>
  eventsOfStatus(eventSubjectOf(screenshot), screenshot.status, screenshot.spec.scheduleRef?.wasFit).filter(
    (event) => isCreationEvent(event) || !isRestored(screenshot),
  )

/** End of the second in which an object was created. */
const endOfCreation = ({ metadata }: Pick<Screenshot, 'metadata'>): Date =>
  new Date(Date.parse(metadata.creationTimestamp) + CREATION_MILLISECONDS - 1)

/**
 * True when a webhook of the account receives the event: it is active and was subscribed to the type when the event happened.
 * @param entry its entry in status.deliveries: deliveries that were started since the webhook became active continue
 */
export function isReceiver(webhook: Webhook, occurrence: Occurrence, entry?: DeliveryEntry): boolean {
  const { event } = occurrence
  if (webhook.spec.isDefault) return false
  if (!isActive(webhook) || !webhook.spec.events.includes(event)) return false
  const { activeSince, subscriptions } = webhook.status ?? {}
  // Until the status follows a change of the spec, an added event type has no start time and is not delivered.
  const since = subscriptions === undefined ? activeSince : subscriptions[event]
  return since !== undefined && activeSince !== undefined && isSince(webhook, new Date(since), occurrence, entry)
}

function isSince(webhook: Webhook, since: Date, { at, latest = at, follows }: Occurrence, entry?: DeliveryEntry): boolean {
  return follows?.(webhook) ?? (since <= latest || (entry !== undefined && since <= new Date(entry.at)))
}

/**
 * True when the URL of the request receives the event: the request asked for it, and the default webhook of the account, which signs, is active.
 * If the default webhook was never off, all events are delivered: the request itself is the subscription.
 */
export function isRequestReceiver(screenshot: Screenshot, occurrence: Occurrence, signer: Webhook | undefined): boolean {
  const activeSince = signer?.status?.activeSince
  if (!isRequestedEvent(screenshot, occurrence.event) || !signer || activeSince === undefined || !isActive(signer)) return false
  const wasNeverOff = Date.parse(activeSince) <= Date.parse(signer.metadata.creationTimestamp) + CREATION_MILLISECONDS
  return wasNeverOff || isSince(signer, new Date(activeSince), occurrence)
}

/** The URL that an event is posted to, and the webhook whose secret signs it. */
export interface Endpoint {
  url: string
  webhook: Webhook
}

/** Reads the current state of webhooks. Deleted ones count as missing. */
export interface WebhookFinder {
  findWebhook: (key: string) => Webhook | undefined
  findDefaultWebhook: (account: string) => Webhook | undefined
}

/** Returns the endpoint for a name in status.deliveries; undefined when it no longer wants the event. */
export function findEndpoint(screenshot: Screenshot, occurrence: Occurrence, name: string, finder: WebhookFinder): Endpoint | undefined {
  if (name !== REQUEST_WEBHOOK) {
    const webhook = finder.findWebhook(`${screenshot.metadata.namespace}/${name}`)
    const entry = screenshot.status?.deliveries?.[occurrence.event]?.[name]
    return webhook && isReceiver(webhook, occurrence, entry) ? { url: webhook.spec.url, webhook } : undefined
  }
  const webhook = finder.findDefaultWebhook(accountOf(screenshot))
  const { webhookUrl: url } = screenshot.spec
  return webhook && url !== undefined && isRequestReceiver(screenshot, occurrence, webhook) ? { url, webhook } : undefined
}

/** Key of an account in the limiter. */
export const accountKeyOf = (object: Pick<Screenshot | Webhook, 'metadata' | 'spec'>): string =>
  `${object.metadata.namespace}/${accountOf(object)}`

/** A Screenshot, or what is left of it. */
interface EndpointOwner {
  metadata: { namespace?: string | undefined }
  spec: { accountName?: string | undefined; webhookUrl?: string | undefined }
}

/**
 * Key of an endpoint in the limiter and the circuit breakers. It is the webhook's key; for URLs of single requests it is account and host, so
 * that a host that is down does not delay others.
 */
export function endpointKeyOf({ metadata, spec }: EndpointOwner, name: string): string {
  if (name !== REQUEST_WEBHOOK) return `${metadata.namespace}/${name}`
  const { webhookUrl = '' } = spec
  return `${metadata.namespace}/${accountOf({ spec })}/${URL.canParse(webhookUrl) ? new URL(webhookUrl).host : webhookUrl}`
}

/** Id of an event's delivery to a webhook; all attempts share it. */
export const toDeliveryId = (at: Date, eventId: string, { metadata }: Pick<Webhook, 'metadata'>): string =>
  derivedId('dlv', at, `${eventId}/${metadata.uid}`)
