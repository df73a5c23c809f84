import { createHash } from 'node:crypto'
import { z } from 'zod'
import { derivedId, isScreenshotId } from '../identifiers/ids.ts'
import type { Screenshot } from '../kinds/screenshot.ts'
import type { PostResponse, Webhook } from '../kinds/webhook.ts'
import { isFuture, parseStoredJson, type ReportIgnored } from '../records/ignored-objects.ts'
import { OPEN_PREFIX, openDeliveryKey, parseLogKey } from '../records/storage-keys.ts'
import { isBeingDeleted } from '../schema/custom-resource.ts'
import { EVENT_TYPES, type EventType, REQUEST_EVENTS } from '../schema/event-types.ts'

// The delivery log of an endpoint. The operator writes it, and the gateway reads it: NDJSON with one line per attempt. A line may be in two objects,
// so readers merge.

/** Maximum lines to keep for one endpoint. */
export const MAX_LOG_LINES = 500
/** Milliseconds to keep a line. */
export const LOG_MILLISECONDS = 7 * 86_400_000

const looseId = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{1,40}$`))

/** One attempt. The schema is loose, because another version may have written the line. */
export const AttemptLine = z.object({
  delivery: looseId('dlv'),
  event: looseId('evt'),
  type: z.string().regex(/^[a-z]{1,32}\.[a-z_.]{1,32}$/),
  screenshot: looseId('scr'),
  /** Number of the attempt, starting at 1. */
  attempt: z.int().min(0).max(1_000_000),
  /** True for a requested redelivery. */
  manual: z.boolean().optional(),
  /** True if no automatic retry follows. */
  last: z.boolean().optional(),
  /** URL of the post, if it is not the webhook's own URL. */
  url: z.string().max(16_384).optional(),
  /** Start time. */
  at: z.iso.datetime(),
  milliseconds: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  statusCode: z.int().min(0).max(999),
  /** `success`, or why the attempt failed. `withdrawn`: there was none, because the endpoint no longer subscribed to the event. */
  outcome: z.string().max(32),
  /** Reason of the failure. */
  detail: z.string().max(16_384).optional(),
  /** Beginning of the response body. */
  answer: z.string().max(16_384).optional(),
})
export type AttemptLine = z.infer<typeof AttemptLine>

/** The result of an attempt, independent of its event. */
export type AttemptFinding = Pick<AttemptLine, 'at' | 'milliseconds' | 'statusCode' | 'outcome' | 'detail' | 'answer'>

/** Number of lines according to the key of a log object; 0 for other keys. */
export function linesOf(key: string): number {
  const { lines = 0 } = parseLogKey(key) ?? {}
  return lines <= MAX_LOG_LINES ? lines : 0
}

/** Current time, and the function that reports ignored objects. */
interface LogChecks {
  now: Date
  report: ReportIgnored
}

/** Returns the valid keys of log objects, and reports the others. */
function keysInPlace(keys: readonly string[], { now, report }: LogChecks): string[] {
  return keys.filter((key) => {
    const parsed = linesOf(key) > 0 ? parseLogKey(key) : undefined
    const reason = !parsed ? 'key' : isFuture(parsed.at, now) ? 'time' : undefined
    if (reason) report({ kind: 'delivery_log', reason, key })
    return reason === undefined
  })
}

/** The first keys that together announce `wanted` lines. */
function keysWorthReading(keys: readonly string[], wanted: number): string[] {
  let lines = 0
  return keys.filter((key) => {
    const isWanted = lines < wanted
    lines += linesOf(key)
    return isWanted
  })
}

/** Formats lines as the text of an object. */
export const toLogText = (lines: readonly AttemptLine[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Parses a text of {@link toLogText}, and omits invalid lines. */
export function parseLog(text: string): AttemptLine[] {
  return text.split('\n').flatMap((line) => {
    const parsed = line === '' ? undefined : AttemptLine.safeParse(parseStoredJson(line))
    return parsed?.success ? [parsed.data] : []
  })
}

/** Like {@link parseLog}, but also reports an object whose number of valid lines differs from the number in its key. */
function parseReported(key: string, text: string, { now, report }: LogChecks): AttemptLine[] {
  const lines = parseLog(text)
  if (lines.length !== linesOf(key)) report({ kind: 'delivery_log', reason: 'content', key })
  return lines.filter(({ at }) => !isFuture(new Date(at), now))
}

/** Access to the objects of a log. */
interface LogObjects {
  list: (prefix: string) => Promise<string[]>
  /** Returns undefined if the object does not exist. */
  read: (key: string) => Promise<string | undefined>
}

const READERS = 8
const MAX_READS = 3
/** Maximum objects of a log to read for one request: about ten more than the operator leaves. */
const MAX_OBJECTS = 64

/** Reads the newest lines of an endpoint's log, unsorted. Lists again if objects were merged meanwhile. */
export async function readLog(prefix: string, objects: LogObjects, checks: LogChecks): Promise<AttemptLine[]> {
  for (let reads = 1; ; reads++) {
    const keys = keysInPlace(await objects.list(prefix), checks).slice(0, MAX_OBJECTS)
    const { lines, isWhole } = await readNewest(keys, objects, checks)
    if (reads === MAX_READS || isWhole) return lines
  }
}

/** Reads objects until there are enough lines. Counts the actual lines, because keys may announce a wrong number. */
async function readNewest(keys: readonly string[], { read }: LogObjects, checks: LogChecks) {
  const lines: AttemptLine[] = []
  let isWhole = true
  for (let rest = keys; rest.length > 0 && lines.length < MAX_LOG_LINES; ) {
    const next = keysWorthReading(rest, MAX_LOG_LINES - lines.length).slice(0, READERS)
    rest = rest.slice(next.length)
    const texts = await Promise.all(next.map(read))
    for (const [index, key] of next.entries()) {
      const text = texts[index]
      if (text === undefined) isWhole = false
      else lines.push(...parseReported(key, text, checks))
    }
  }
  return { lines, isWhole }
}

/** Merges lines of several objects: without duplicates, expired lines and lines beyond the maximum, newest first. */
export function mergeLines(lines: readonly AttemptLine[], now: Date): AttemptLine[] {
  const oldest = new Date(now.getTime() - LOG_MILLISECONDS).toISOString()
  const byAttempt = new Map(lines.map((line) => [`${line.delivery}/${line.at}/${line.attempt}/${line.outcome}`, line]))
  return [...byAttempt.values()]
    .filter(({ at }) => at >= oldest)
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : b.attempt - a.attempt))
    .slice(0, MAX_LOG_LINES)
}

export const DELIVERY_STATES = ['pending', 'successful', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The delivery of one event to one endpoint, with its attempts, oldest first. */
export interface LoggedDelivery {
  id: string
  state: DeliveryState
  attempts: AttemptLine[]
}

/** Groups attempts by delivery, the delivery with the newest attempt first. `lines` must be newest first. */
export function toDeliveries(lines: readonly AttemptLine[]): LoggedDelivery[] {
  return [...Map.groupBy(lines, ({ delivery }) => delivery)].map(([id, own]) => ({ id, state: stateOf(own), attempts: own.toReversed() }))
}

function stateOf(lines: readonly AttemptLine[]): DeliveryState {
  if (lines.some(({ outcome }) => outcome === 'success')) return 'successful'
  return lines.some(({ last }) => last) ? 'failed' : 'pending'
}

const MAX_ERROR = 256

/** Converts the result of an attempt to the response to its request. */
export const toPostResponse = ({ at, milliseconds, statusCode, outcome, detail = outcome }: AttemptFinding): PostResponse => ({
  time: new Date(Date.parse(at) + milliseconds).toISOString(),
  success: outcome === 'success',
  statusCode,
  responseMilliseconds: Math.round(milliseconds),
  ...(outcome === 'success' ? {} : { error: detail.slice(0, MAX_ERROR) }),
})

// Deliveries whose Screenshot has left the Kubernetes API, as objects in the bucket. Only the operator writes them, and the gateway counts them. An
// open delivery has another attempt. It is valid only if the archived record names it, too: see isOpenIn. A missed one can be redelivered.

const strictId = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`))

export const Undelivered = z.object({
  version: z.literal(1),
  delivery: strictId('dlv'),
  event: strictId('evt'),
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
