import { derivedId } from '../identifiers/ids.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import type { Webhook } from '../kinds/webhook.ts'
import { isBeingDeleted } from '../schema/custom-resource.ts'
import { type EventType, REQUEST_EVENTS } from '../schema/event-types.ts'

// The URL in the option `webhook_url` of a single request. It has no Webhook object. The account's default Webhook signs and counts its posts, and
// can be disabled and can rotate its secret like any other Webhook.

/** The name of a request's own URL in status.deliveries. No object can have this name. */
export const REQUEST_WEBHOOK = '_request'

/** The URL of a default Webhook, which receives no posts. The domain `invalid` never resolves (RFC 2606). */
export const DEFAULT_WEBHOOK_URL = 'https://webhook-url.invalid/'

const EPOCH = new Date(0)

/** Id of an account's default Webhook. It is derived, so that two gateways cannot create two default Webhooks. */
export const defaultWebhookId = (account: string): string => derivedId('wh', EPOCH, `default/${account}`)

/** Finds the default Webhook of an account: the oldest, if a person has created others. */
export const findDefaultWebhook = (webhooks: readonly Webhook[]): Webhook | undefined =>
  webhooks
    .filter((webhook) => webhook.spec.isDefault === true && !isBeingDeleted(webhook))
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))[0]

const ageOf = ({ metadata }: Webhook): string => `${metadata.creationTimestamp} ${metadata.name}`

/** True if the request's own URL receives the event. */
export const isRequestedEvent = ({ spec }: Pick<Screenshot, 'spec'>, event: EventType): boolean =>
  spec.webhookUrl !== undefined && (spec.webhookEvents ?? REQUEST_EVENTS).includes(event)
