import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isScreenshotId } from '../identifiers/ids.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { OPEN_PREFIX, openDeliveryKey } from '../records/storage-keys.ts'
import { parseStoredJson } from '../records/stored-json.ts'
import { EVENT_TYPES } from '../schema/event-types.ts'
import { REQUEST_WEBHOOK } from './request-webhook.ts'

// Deliveries whose Screenshot has left the Kubernetes API, as objects in the bucket. Only the operator writes them, and the gateway counts them. An
// open delivery has another attempt. It is valid only if the archived record names it, too: see isOpenIn. A missed one can be redelivered.

const idOf = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`))

export const Undelivered = z.object({
  version: z.literal(1),
  delivery: idOf('dlv'),
  event: idOf('evt'),
  type: z.enum(EVENT_TYPES),
  screenshot: z.string().refine(isScreenshotId),
  /** Name of the Webhook, or {@link REQUEST_WEBHOOK}. */
  webhook: z.string().min(1).max(253),
  /** URL of the request, for {@link REQUEST_WEBHOOK} only. */
  url: z.string().max(2_048).optional(),
  /** Attempts so far. */
  attempts: z.int().min(0).max(1_000_000),
  /** Time of the next attempt, or of the last one of a missed delivery. */
  at: z.iso.datetime(),
  /** True for a missed delivery that a client repeats. It has one attempt. */
  manual: z.literal(true).optional(),
})
export type Undelivered = z.infer<typeof Undelivered>

/** Reads an object; undefined for other texts. */
export const parseUndelivered = (text: string): Undelivered | undefined => Undelivered.safeParse(parseStoredJson(text)).data

const HASH_DIGITS = 8

/** URLs of single requests are grouped by host, so that one that is down does not delay others. */
function endpointOf({ webhook, url = '' }: Pick<Undelivered, 'webhook' | 'url'>): string {
  if (webhook !== REQUEST_WEBHOOK) return webhook
  const host = URL.canParse(url) ? new URL(url).host : url
  return `${REQUEST_WEBHOOK}-${createHash('sha256').update(host).digest('hex').slice(0, HASH_DIGITS)}`
}

/** Prefix of the open deliveries of an account to a Webhook. For {@link REQUEST_WEBHOOK}, those of all hosts. */
export const openPrefixOf = (account: string, webhook: string): string =>
  `${OPEN_PREFIX}${account}/${webhook}${webhook === REQUEST_WEBHOOK ? '-' : '/'}`

/** Prefix of the open deliveries to one endpoint. */
export const openPrefix = (account: string, open: Pick<Undelivered, 'webhook' | 'url'>): string =>
  `${OPEN_PREFIX}${account}/${endpointOf(open)}/`

/** Key of an open delivery. */
export const openKey = (account: string, open: Undelivered): string =>
  openDeliveryKey(account, endpointOf(open), new Date(open.at), open.delivery)

/**
 * True if the archived record says that the delivery was open, and this object is not older than the record. An object is older if its
 * Screenshot changed before it could be archived, so that it was archived again.
 */
export function isOpenIn({ status }: Pick<Screenshot, 'status'>, { type, webhook, attempts, at }: Undelivered): boolean {
  const entry = status?.deliveries?.[type]?.[webhook]
  if (entry?.state !== 'open' || attempts < entry.attempts) return false
  return attempts > entry.attempts || Date.parse(at) === Date.parse(entry.at)
}
