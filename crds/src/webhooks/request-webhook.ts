import { derivedId } from '../identifiers/ids.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import type { Webhook } from '../kinds/webhook.ts'
import type { ScreenshotEventType } from '../schema/event-types.ts'

// The address that a single request names to be told at (`webhook_url`). It is no object of its own: the account's default Webhook signs what is
// posted there, counts it, and can be switched off and given a new secret like any other.

/** What the ledger calls a request's own address: no object can have this name. */
export const REQUEST_WEBHOOK = '_request'

/** The address of a default Webhook, to which nothing is posted: the domain `invalid` never resolves (RFC 2606). */
export const DEFAULT_WEBHOOK_URL = 'https://webhook-url.invalid/'

/** What a request is told of when it does not say (`webhook_events`). */
export const REQUEST_EVENTS: readonly ScreenshotEventType[] = ['screenshot.completed', 'screenshot.failed']

const EPOCH = new Date(0)

/** Id under which the gateway makes an account's default Webhook: two that make it at once make the same. */
export const defaultWebhookId = (account: string): string => derivedId('wh', EPOCH, `default/${account}`)

/** An account's default Webhook among its Webhooks: the oldest, should a person have made others. */
export const findDefaultWebhook = (webhooks: readonly Webhook[]): Webhook | undefined =>
  webhooks.filter(({ spec }) => spec.isDefault === true).sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))[0]

const ageOf = ({ metadata }: Webhook): string => `${metadata.creationTimestamp} ${metadata.name}`

/** True when the request itself asked to be told of that event. */
export const asksFor = ({ spec }: Pick<Screenshot, 'spec'>, event: ScreenshotEventType): boolean =>
  spec.webhookUrl !== undefined && (spec.webhookEvents ?? REQUEST_EVENTS).includes(event)
