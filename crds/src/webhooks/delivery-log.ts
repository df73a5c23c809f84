import { z } from 'zod'
import type { PostResponse } from '../kinds/post-response.ts'
import type { ReportIgnored } from '../records/ignored-objects.ts'
import { isFuture, parseStoredJson } from '../records/stored-json.ts'

// The log of an endpoint's deliveries, as the operator writes it and the gateway reads it: NDJSON, one line an attempt, in objects
// `deliveries/<account>/<webhook id>/<inverted milliseconds>-<lines>-<nonce>.ndjson`. The natural order of keys is newest first, and a key
// tells how many lines there are. The same line may stand in two objects: whoever reads merges.

/** Lines of one endpoint that are kept, at most. */
export const MAX_LOG_LINES = 500
/** How long a line is kept. */
export const LOG_MILLISECONDS = 7 * 86_400_000

/** How an attempt ended; `withdrawn`: there was none, the delivery was given up because the endpoint wanted it no more. */
export const ATTEMPT_OUTCOMES = [
  'success',
  'answered',
  'timeout',
  'blocked',
  'unresolved',
  'tls',
  'proxy',
  'connection',
  'withdrawn',
] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

const idOf = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{1,40}$`))

/** One attempt. Loose on purpose: another version of the program may have written it. */
export const AttemptLine = z.object({
  delivery: idOf('dlv'),
  event: idOf('evt'),
  type: z.string().regex(/^[a-z]{1,32}\.[a-z_.]{1,32}$/),
  screenshot: idOf('scr'),
  /** Number, from 1. */
  attempt: z.int().min(0).max(1_000_000),
  /** True when a person or a program asked for it: a redelivery. */
  manual: z.boolean().optional(),
  /** True when no further attempt follows by itself. */
  last: z.boolean().optional(),
  /** Where it was posted to, if not to the webhook's own address. */
  url: z.string().max(16_384).optional(),
  /** When it began. */
  at: z.iso.datetime(),
  milliseconds: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  statusCode: z.int().min(0).max(999),
  outcome: z.string().max(32),
  /** Why it failed. */
  detail: z.string().max(16_384).optional(),
  /** The beginning of the answer's body. */
  answer: z.string().max(16_384).optional(),
})
export type AttemptLine = z.infer<typeof AttemptLine>

/** How an attempt went, whatever it was of. */
export type AttemptFinding = Pick<AttemptLine, 'at' | 'milliseconds' | 'statusCode' | 'outcome' | 'detail' | 'answer'>

/** Prefix of an endpoint's log. */
export const logPrefix = (account: string, webhookId: string): string => `deliveries/${account}/${webhookId}/`

const END = 9_999_999_999_999
const DIGITS = 13

/** Key of lines that are written at that instant. */
export const logKey = (prefix: string, at: Date, lines: number, nonce: string): string =>
  `${prefix}${String(END - at.getTime()).padStart(DIGITS, '0')}-${lines}-${nonce}.ndjson`

const KEY = /\/(\d{13})-(\d{1,4})-[0-9a-z]{1,64}\.ndjson$/

/** Lines that the key of a log object says it has; 0 for other keys. */
export function linesOf(key: string): number {
  const lines = Number(KEY.exec(key)?.[2] ?? 0)
  return lines <= MAX_LOG_LINES ? lines : 0
}

/** When the lines of a log object were written. */
const writtenAt = (key: string): Date => new Date(END - Number(KEY.exec(key)?.[1] ?? 0))

/** Current time, and where to report ignored objects. */
export interface LogChecks {
  now: Date
  report: ReportIgnored
}

/** Keys of a log's objects, of all keys under its prefix. */
function keysInPlace(prefix: string, keys: readonly string[], { now, report }: LogChecks): string[] {
  return keys.filter((key) => {
    const isName = linesOf(key) > 0 && key.indexOf('/', prefix.length) === -1
    const reason = !isName ? 'key' : isFuture(writtenAt(key), now) ? 'time' : undefined
    if (reason) report({ kind: 'delivery_log', reason, key })
    return reason === undefined
  })
}

/** The first keys that say that they hold so many lines together. */
function keysWorthReading(keys: readonly string[], wanted: number): string[] {
  let lines = 0
  return keys.filter((key) => {
    const isWanted = lines < wanted
    lines += linesOf(key)
    return isWanted
  })
}

/** Lines as the text of an object. */
export const toLogText = (lines: readonly AttemptLine[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Reads what {@link toLogText} wrote; a line that cannot be read is left out. */
export function parseLog(text: string): AttemptLine[] {
  return text.split('\n').flatMap((line) => {
    const parsed = line === '' ? undefined : AttemptLine.safeParse(parseStoredJson(line))
    return parsed?.success ? [parsed.data] : []
  })
}

/** As {@link parseLog}; an object with other lines than its key says is reported, and what can be read of it is given. */
function parseReported(key: string, text: string, { now, report }: LogChecks): AttemptLine[] {
  const lines = parseLog(text)
  if (lines.length !== linesOf(key)) report({ kind: 'delivery_log', reason: 'content', key })
  return lines.filter(({ at }) => !isFuture(new Date(at), now))
}

/** How the objects of a log are reached. */
export interface LogObjects {
  list: (prefix: string) => Promise<string[]>
  /** Undefined when there is no such object. */
  read: (key: string) => Promise<string | undefined>
}

const READERS = 8
const MAX_READS = 3
/** Objects of a log that are read for one caller, at most: some ten more than the operator leaves. */
const MAX_OBJECTS = 64

/** Reads the newest lines of an endpoint's log, in no order. Objects that were joined meanwhile are looked for anew. */
export async function readLog(prefix: string, objects: LogObjects, checks: LogChecks): Promise<AttemptLine[]> {
  for (let reads = 1; ; reads++) {
    const keys = keysInPlace(prefix, await objects.list(prefix), checks).slice(0, MAX_OBJECTS)
    const { lines, isWhole } = await readNewest(keys, objects, checks)
    if (reads === MAX_READS || isWhole) return lines
  }
}

/** What the objects hold counts, not what their keys say that they hold. */
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

/** Lines of several objects as one: each once, newest first, none that has had its time, no more than are kept. */
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

/** One event at one endpoint: its attempts, oldest first. */
export interface LoggedDelivery {
  id: string
  state: DeliveryState
  attempts: AttemptLine[]
}

/** Puts attempts together into deliveries, the one with the newest attempt first. `lines` are newest first. */
export function toDeliveries(lines: readonly AttemptLine[]): LoggedDelivery[] {
  return [...Map.groupBy(lines, ({ delivery }) => delivery)].map(([id, own]) => ({ id, state: stateOf(own), attempts: own.toReversed() }))
}

function stateOf(lines: readonly AttemptLine[]): DeliveryState {
  if (lines.some(({ outcome }) => outcome === 'success')) return 'successful'
  return lines.some(({ last }) => last) ? 'failed' : 'pending'
}

const MAX_ERROR = 256

/** The outcome of an attempt, as the response to its request. */
export const toPostResponse = ({ at, milliseconds, statusCode, outcome, detail = outcome }: AttemptFinding): PostResponse => ({
  time: new Date(Date.parse(at) + milliseconds).toISOString(),
  success: outcome === 'success',
  statusCode,
  responseMilliseconds: Math.round(milliseconds),
  ...(outcome === 'success' ? {} : { error: detail.slice(0, MAX_ERROR) }),
})
