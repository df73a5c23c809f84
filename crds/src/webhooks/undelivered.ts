import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isScreenshotId } from '../identifiers/ids.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import { isAccountName } from '../records/storage-keys.ts'
import { parseStoredJson } from '../records/stored-json.ts'
import { EVENT_TYPES } from '../schema/event-types.ts'
import { REQUEST_WEBHOOK } from './request-webhook.ts'

// Deliveries whose Screenshot has left the Kubernetes API, as objects in the bucket. Only the operator writes them, and the gateway counts them:
//
//   undelivered/open/<account>/<endpoint>/<seconds>.<delivery>    has another attempt; sorted by the time at which it is due
//   undelivered/missed/<account>/<webhook id>/<delivery>          has failed, and can be redelivered
//
// An open delivery is valid only if the archived record names it, too: see isOpenIn.

export const OPEN_PREFIX = 'undelivered/open/'
const MISSED_PREFIX = 'undelivered/missed/'

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

/** Maximum bytes of an object. */
export const MAX_UNDELIVERED_BYTES = 8 * 1024

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

const SECONDS_DIGITS = 10

/** Key of an open delivery. */
export const openKey = (account: string, open: Undelivered): string =>
  `${openPrefix(account, open)}${String(Math.ceil(Date.parse(open.at) / 1_000)).padStart(SECONDS_DIGITS, '0')}.${open.delivery}`

const OPEN_KEY = /^(undelivered\/open\/([a-z0-9-]{1,63})\/[a-z0-9._-]{1,253}\/)(\d{10})\.dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Parses a key of {@link openKey}; undefined for other text. */
export function parseOpenKey(key: string): { prefix: string; account: string; at: Date } | undefined {
  const [, prefix, account, seconds] = OPEN_KEY.exec(key) ?? []
  return prefix && account && seconds && isAccountName(account) ? { prefix, account, at: new Date(Number(seconds) * 1_000) } : undefined
}

/** Prefix of the missed deliveries of an account. */
export const missedPrefixOf = (account: string): string => `${MISSED_PREFIX}${account}/`

/** Prefix of the missed deliveries of a Webhook. */
export const missedPrefix = (account: string, webhookId: string): string => `${missedPrefixOf(account)}${webhookId}/`

/** Key of a missed delivery. */
export const missedKey = (account: string, webhookId: string, delivery: string): string => missedPrefix(account, webhookId) + delivery

/**
 * True if the archived record says that the delivery was open, and this object is not older than the record. An object is older if its
 * Screenshot changed before it could be archived, so that it was archived again.
 */
export function isOpenIn({ status }: Pick<Screenshot, 'status'>, { type, webhook, attempts, at }: Undelivered): boolean {
  const entry = status?.deliveries?.[type]?.[webhook]
  if (entry?.state !== 'open' || attempts < entry.attempts) return false
  return attempts > entry.attempts || Date.parse(at) === Date.parse(entry.at)
}
