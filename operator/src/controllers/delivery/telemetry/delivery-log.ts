// The delivery log: every attempt and the response of the endpoint. Lines are collected in memory and written every few seconds, one object per
// endpoint. A crash loses the lines of the last seconds. The log is for users only: nothing depends on it, and without the bucket only lines
// are lost, not deliveries.

import { randomBytes } from 'node:crypto'
import type { Log } from '@tintype/crds/client/log'
import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { OBJECTS } from '@tintype/crds/records/folders'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { logKey, logPrefix } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { emptyIfTooLarge } from '@tintype/crds/storage/stored-objects'
import {
  type AttemptFinding,
  type AttemptLine,
  linesOf,
  MAX_LOG_LINES,
  mergeLines,
  readLog,
  toLogText,
} from '@tintype/crds/webhooks/deliveries'
import type { Storage } from '../../../storage/storage.ts'
import type { SigningTexts } from '../../webhook/signing-secret.ts'
import type { PostOutcome } from '../http/post.ts'

export interface DeliveryLogDeps {
  storage: Pick<Storage, 'write' | 'list' | 'remove' | 'readText'>
  now: () => Date
  log: Log
  /** Reports objects that are ignored. */
  report: ReportIgnored
}

/** Maximum number of lines that wait to be written: about 15 MB while the bucket is unavailable. */
const MAX_WAITING = 10_000
/** Number of objects of an endpoint after which they are merged. Readers read at most about twice as many. */
const JOIN_AFTER = 20
const WRITERS = 8

/** Key prefix of an endpoint's log. */
export const logPrefixOf = (webhook: Pick<Webhook, 'metadata' | 'spec'>): string =>
  logPrefix(accountOf(webhook), webhookIdOf(webhook.metadata))

export class DeliveryLog {
  readonly #deps: DeliveryLogDeps
  /** By key prefix. */
  #waiting = new Map<string, AttemptLine[]>()
  #writing = new Map<string, AttemptLine[]>()
  #count = 0
  #flushed = Promise.resolve()
  /** Objects written per endpoint since the last merge. Endpoints that are not listed were written in an earlier term. */
  readonly #written = new Map<string, number>()

  constructor(deps: DeliveryLogDeps) {
    this.#deps = deps
  }

  /** Adds an attempt. The oldest lines of an endpoint are dropped beyond the limit. */
  note(webhook: Pick<Webhook, 'metadata' | 'spec'>, line: AttemptLine): void {
    this.#add(logPrefixOf(webhook), [line])
  }

  /** Writes the collected lines; flushes run one after the other. Lines that cannot be written are kept for the next flush. */
  flush(): Promise<void> {
    this.#flushed = this.#flushed.then(() => this.#flush())
    return this.#flushed
  }

  /** All lines of an endpoint, written or not, newest first. @throws RetryableError without the bucket */
  async read(webhook: Pick<Webhook, 'metadata' | 'spec'>): Promise<AttemptLine[]> {
    const { storage, now, report } = this.#deps
    const prefix = logPrefixOf(webhook)
    const noted = [...(this.#writing.get(prefix) ?? []), ...(this.#waiting.get(prefix) ?? [])]
    const written = await readLog(prefix, { list: (of) => storage.list(of), read: (key) => this.#readText(key) }, { now: now(), report })
    return mergeLines([...noted, ...written], now())
  }

  async #flush(): Promise<void> {
    if (this.#waiting.size === 0) return
    this.#writing = this.#waiting
    this.#waiting = new Map()
    this.#count = 0
    await mapConcurrently([...this.#writing], WRITERS, ([prefix, lines]) => this.#write(prefix, lines))
    this.#writing = new Map()
  }

  #add(prefix: string, lines: readonly AttemptLine[]): void {
    const known = this.#waiting.get(prefix) ?? []
    const before = known.length
    known.push(...lines.slice(0, Math.max(0, MAX_WAITING - this.#count)))
    // Not for every line: a busy endpoint adds thousands between two flushes.
    if (known.length > 2 * MAX_LOG_LINES) known.splice(0, known.length - MAX_LOG_LINES)
    this.#count += known.length - before
    this.#waiting.set(prefix, known)
  }

  async #write(prefix: string, lines: AttemptLine[]): Promise<void> {
    const { storage, now, log } = this.#deps
    try {
      const newestFirst = mergeLines(lines, now())
      await storage.write(this.#newKey(prefix, newestFirst.length), toLogText(newestFirst))
      await this.#joinNowAndThen(prefix)
    } catch (error) {
      this.#add(prefix, lines)
      log.warn({ err: error, prefix }, 'delivery log not written; will retry')
    }
  }

  async #joinNowAndThen(prefix: string): Promise<void> {
    const written = (this.#written.get(prefix) ?? JOIN_AFTER) + 1
    this.#written.set(prefix, written)
    if (written < JOIN_AFTER) return
    await this.#join(prefix)
    this.#written.set(prefix, 0)
  }

  /** Merges the objects into one with the newest lines. A crash in between leaves duplicate lines, which readers merge. */
  async #join(prefix: string): Promise<void> {
    const { storage, now, report } = this.#deps
    const keys = (await storage.list(prefix)).filter((key) => linesOf(key) > 0)
    if (keys.length < 2) return
    const [read, ignored] = [new Set<string>(), new Set<string>()]
    const lines = await readLog(
      prefix,
      {
        list: async () => keys,
        read: (key) => {
          read.add(key)
          return this.#readText(key)
        },
      },
      {
        now: now(),
        report: (object) => {
          ignored.add(object.key)
          report(object)
        },
      },
    )
    const kept = mergeLines(lines, now())
    if (kept.length > 0) await storage.write(this.#newKey(prefix, kept.length), toLogText(kept))
    // Ignored objects may belong to another version and stay. Unread objects are older than all kept lines if the log is full.
    const isFull = kept.length === MAX_LOG_LINES
    await storage.remove(keys.filter((key) => !ignored.has(key) && (read.has(key) || isFull)))
  }

  #readText(key: string): Promise<string | undefined> {
    return emptyIfTooLarge(this.#deps.storage.readText(key, OBJECTS.delivery_log.maxBytes))
  }

  #newKey(prefix: string, lines: number): string {
    return logKey(prefix, this.#deps.now(), lines, randomBytes(4).toString('hex'))
  }
}

const MAX_BYTES = 1024
const MASK = '***'
/** Shorter prefixes of a secret are not masked. */
const MIN_REST = 6

/**
 * The start of a response body for the delivery log: at most 1 KiB of valid UTF-8. Secrets that the endpoint echoes are masked, also a
 * prefix of a secret at the cut, because readers of the log must not learn them.
 */
export function toLoggedResponse(excerpt: Buffer, { current, previous }: SigningTexts): string {
  // A character that the limit cuts is dropped; invalid UTF-8 is replaced.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(excerpt.subarray(0, MAX_BYTES), { stream: true })
  return [current, previous].reduce<string>((shown, secret) => (secret === undefined ? shown : mask(shown, secret)), text)
}

function mask(text: string, secret: string): string {
  const whole = text.replaceAll(secret, MASK)
  for (let length = Math.min(secret.length - 1, whole.length); length >= MIN_REST; length--) {
    if (whole.endsWith(secret.slice(0, length))) return whole.slice(0, -length) + MASK
  }
  return whole
}

/** Fields of the delivery log for an event that the endpoint no longer wanted, so that it was not posted again. */
export const toWithdrawal = (attempt: number, at: string) =>
  ({ attempt, last: true, at, milliseconds: 0, statusCode: 0, outcome: 'withdrawn' }) as const

/** Fields of the delivery log for a post that started at `at`. */
export function toFinding(
  { end, isSuccess, statusCode, detail, durationMilliseconds, excerpt }: PostOutcome,
  at: Date,
  secrets: SigningTexts,
): AttemptFinding {
  return {
    at: at.toISOString(),
    milliseconds: Math.round(durationMilliseconds),
    statusCode,
    outcome: isSuccess ? 'success' : end,
    ...(isSuccess ? {} : { detail }),
    ...(statusCode === 0 ? {} : { answer: toLoggedResponse(excerpt, secrets) }),
  }
}
