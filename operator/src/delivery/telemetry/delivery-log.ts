// The log of deliveries: every attempt, with what the endpoint answered. Lines are gathered in memory and written every few seconds, one
// object an endpoint; a crash loses those of the last seconds. It is for people: nothing is decided by it, and a bucket that is away costs
// lines, never deliveries.

import { randomBytes } from 'node:crypto'
import type { Log } from '@tintype/crds/client/log'
import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { mapConcurrently } from '@tintype/crds/runtime/map-concurrently'
import { emptyIfTooLarge } from '@tintype/crds/storage/checked-read'
import {
  type AttemptLine,
  linesOf,
  logKey,
  logPrefix,
  MAX_LOG_LINES,
  mergeLines,
  readLog,
  toLogText,
} from '@tintype/crds/webhooks/delivery-log'
import type { Storage } from '../../storage/storage.ts'

export interface DeliveryLogDeps {
  storage: Pick<Storage, 'write' | 'list' | 'remove' | 'readText'>
  now: () => Date
  log: Log
  /** Told of objects that count as absent. */
  report: ReportIgnored
}

/** Lines of all endpoints that wait to be written, at most: about 15 MB while the bucket is away. */
const MAX_WAITING = 10_000
/** Objects of an endpoint after which they are joined: a reader reads no more than about twice as many. */
const JOIN_AFTER = 20
const MAX_OBJECT_BYTES = 8 * 1024 * 1024
const WRITERS = 8

/** Where an endpoint's log is. */
export const logPrefixOf = (webhook: Pick<Webhook, 'metadata' | 'spec'>): string =>
  logPrefix(accountOf(webhook), webhookIdOf(webhook.metadata))

/** See the head of this file. */
export class DeliveryLog {
  readonly #deps: DeliveryLogDeps
  /** By prefix. */
  #waiting = new Map<string, AttemptLine[]>()
  #writing = new Map<string, AttemptLine[]>()
  #count = 0
  #flushed = Promise.resolve()
  /** Objects written to each endpoint's log since they were joined; an endpoint that is not here was written to by another term. */
  readonly #written = new Map<string, number>()

  constructor(deps: DeliveryLogDeps) {
    this.#deps = deps
  }

  /** Notes an attempt; the oldest of an endpoint with more than are kept give way. */
  note(webhook: Pick<Webhook, 'metadata' | 'spec'>, line: AttemptLine): void {
    this.#add(logPrefixOf(webhook), [line])
  }

  /** Writes what was noted, one flush after the other. What cannot be written now is kept for the next time. */
  flush(): Promise<void> {
    this.#flushed = this.#flushed.then(() => this.#flush())
    return this.#flushed
  }

  /** Every line of an endpoint that is kept, written or not yet, newest first. @throws RetryableError without the bucket */
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
    // Not at every line: a busy endpoint has thousands of them between two flushes.
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
      log.warn({ err: error, prefix }, 'the delivery log is written later')
    }
  }

  async #joinNowAndThen(prefix: string): Promise<void> {
    const written = (this.#written.get(prefix) ?? JOIN_AFTER) + 1
    this.#written.set(prefix, written)
    if (written < JOIN_AFTER) return
    await this.#join(prefix)
    this.#written.set(prefix, 0)
  }

  /** Leaves one object with the newest lines. A crash in between leaves lines twice, which readers merge. */
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
    // An ignored object may be another version's. An object that was not read is older than all that is kept, once that is all the log may have.
    const isFull = kept.length === MAX_LOG_LINES
    await storage.remove(keys.filter((key) => !ignored.has(key) && (read.has(key) || isFull)))
  }

  #readText(key: string): Promise<string | undefined> {
    return emptyIfTooLarge(this.#deps.storage.readText(key, MAX_OBJECT_BYTES))
  }

  #newKey(prefix: string, lines: number): string {
    return logKey(prefix, this.#deps.now(), lines, randomBytes(4).toString('hex'))
  }
}
