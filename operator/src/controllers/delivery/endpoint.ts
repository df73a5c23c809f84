import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { REQUEST_WEBHOOK } from '@tintype/crds/webhooks/deliveries'
import { isReceiver, isRequestReceiver, type Occurrence } from './events/receivers.ts'

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
