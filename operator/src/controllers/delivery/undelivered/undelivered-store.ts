import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { missedKey, missedPrefix, OPEN_PREFIX, parseOpenKey } from '@tintype/crds/records/storage-keys'
import { listPages, readParsed } from '@tintype/crds/storage/stored-objects'
import { openKey, openPrefix, parseUndelivered, type Undelivered } from '@tintype/crds/webhooks/deliveries'
import type { Storage } from '../../../storage/storage.ts'

export interface UndeliveredStoreDeps {
  storage: Pick<Storage, 'readText' | 'write' | 'list' | 'remove'>
  report: ReportIgnored
}

/** Open deliveries of one endpoint that are read at a time. */
const BATCH = 100

/** Open and missed deliveries in the bucket. Every method throws a RetryableError if the bucket is unavailable. */
export class UndeliveredStore {
  readonly #deps: UndeliveredStoreDeps
  /** Called with the prefix of an endpoint that has a new open delivery. */
  onOpened: (prefix: string) => void = () => undefined

  constructor(deps: UndeliveredStoreDeps) {
    this.#deps = deps
  }

  async open(account: string, delivery: Undelivered): Promise<string> {
    const key = openKey(account, delivery)
    await this.#deps.storage.write(key, JSON.stringify(delivery))
    this.onOpened(openPrefix(account, delivery))
    return key
  }

  /** Replaces an open delivery. A crash in between leaves both, so that at most an attempt is repeated. */
  async replace(key: string, account: string, delivery: Undelivered): Promise<string> {
    const next = await this.open(account, delivery)
    if (next !== key) await this.close(key)
    return next
  }

  async close(key: string): Promise<void> {
    await this.#deps.storage.remove([key])
  }

  async miss(account: string, webhookId: string, delivery: Undelivered): Promise<void> {
    const { manual: _, ...missed } = delivery
    await this.#deps.storage.write(missedKey(account, webhookId, delivery.delivery), JSON.stringify(missed))
  }

  async forgetMissed(account: string, webhookId: string, delivery: string): Promise<void> {
    await this.#deps.storage.remove([missedKey(account, webhookId, delivery)])
  }

  /** Reads an object; undefined if it does not exist or is not valid. */
  read(key: string): Promise<Undelivered | undefined> {
    return readParsed('undelivered', key, (text) => parseUndelivered(text) ?? 'content', this.#deps)
  }

  /** The open deliveries of an endpoint that are due first, in order. */
  async listOpen(prefix: string): Promise<{ key: string; at: Date }[]> {
    const { storage, report } = this.#deps
    const keys = await storage.list(prefix, { limit: BATCH })
    return keys.flatMap((key) => {
      const parsed = parseOpenKey(key)
      if (!parsed) report({ kind: 'undelivered', reason: 'key', key })
      return parsed ? [{ key, at: parsed.at }] : []
    })
  }

  /** Prefixes of all endpoints that have open deliveries. */
  async *endpoints(): AsyncGenerator<string> {
    for await (const account of this.#list(OPEN_PREFIX, true)) yield* this.#list(account, true)
  }

  /** Keys of the missed deliveries of a Webhook. */
  missed(account: string, webhookId: string): AsyncGenerator<string> {
    return this.#list(missedPrefix(account, webhookId), false)
  }

  async *#list(prefix: string, folders: boolean): AsyncGenerator<string> {
    for await (const found of listPages(prefix, this.#deps.storage, { folders })) {
      yield* folders ? found.filter((folder) => folder.endsWith('/')) : found
    }
  }
}
