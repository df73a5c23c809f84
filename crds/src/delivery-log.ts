import { z } from 'zod'
import type { PostAnswer } from './post-answer.ts'

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

/** One attempt. Loose on purpose: another version of the program may have written it. */
export const AttemptLine = z.object({
  delivery: z.string(),
  event: z.string(),
  type: z.string(),
  screenshot: z.string(),
  /** Number, from 1. */
  attempt: z.int(),
  /** True when a person or a program asked for it: a redelivery. */
  manual: z.boolean().optional(),
  /** True when no further attempt follows by itself. */
  last: z.boolean().optional(),
  /** Where it was posted to, if not to the webhook's own address. */
  url: z.string().optional(),
  /** When it began. */
  at: z.string(),
  milliseconds: z.number(),
  statusCode: z.int(),
  outcome: z.string(),
  /** Why it failed. */
  detail: z.string().optional(),
  /** The beginning of the answer's body. */
  answer: z.string().optional(),
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

const KEY = /\/\d{13}-(\d{1,4})-[0-9a-z]+\.ndjson$/

/** Lines that the key of a log object says it has; 0 for other keys. */
export const linesOf = (key: string): number => Number(KEY.exec(key)?.[1] ?? 0)

/** The keys that hold the newest {@link MAX_LOG_LINES}, of keys in their order. */
function keysWorthReading(keys: readonly string[]): string[] {
  let lines = 0
  return keys.filter((key) => {
    const isWanted = linesOf(key) > 0 && lines < MAX_LOG_LINES
    lines += linesOf(key)
    return isWanted
  })
}

/** Lines as the text of an object. */
export const toLogText = (lines: readonly AttemptLine[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Reads what {@link toLogText} wrote; a line that cannot be read is left out. */
export function parseLog(text: string): AttemptLine[] {
  return text.split('\n').flatMap((line) => {
    const parsed = line === '' ? undefined : AttemptLine.safeParse(tryParse(line))
    return parsed?.success ? [parsed.data] : []
  })
}

function tryParse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** How the objects of a log are reached. */
export interface LogObjects {
  list: (prefix: string) => Promise<string[]>
  /** Undefined when there is no such object. */
  read: (key: string) => Promise<string | undefined>
}

const READERS = 8
const MAX_READS = 3

/** Reads the newest lines of an endpoint's log, in no order. Objects that were joined meanwhile are looked for anew. */
export async function readLog(prefix: string, { list, read }: LogObjects): Promise<AttemptLine[]> {
  for (let reads = 1; ; reads++) {
    const keys = keysWorthReading(await list(prefix))
    const texts: (string | undefined)[] = []
    for (let start = 0; start < keys.length; start += READERS)
      texts.push(...(await Promise.all(keys.slice(start, start + READERS).map(read))))
    if (reads === MAX_READS || !texts.includes(undefined)) return texts.flatMap((text = '') => parseLog(text))
  }
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

/** How an attempt went, as the answer to who asked for it. */
export const toAnswer = ({ at, milliseconds, statusCode, outcome, detail = outcome }: AttemptFinding): PostAnswer => ({
  time: new Date(Date.parse(at) + milliseconds).toISOString(),
  success: outcome === 'success',
  statusCode,
  responseMilliseconds: Math.round(milliseconds),
  ...(outcome === 'success' ? {} : { error: detail.slice(0, MAX_ERROR) }),
})
