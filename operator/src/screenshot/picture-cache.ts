// Pictures that later requests are answered with. The gateway has found one when it wrote `spec.cachedFrom`; here it is looked up once more,
// copied inside the store to the new record's own name, and kept for others when it is new. The copy is the new record's: the earlier one may be
// deleted or expire without harm to it.

import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import { keptUntil } from '@tintype/crds/crypto/download-link'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { CaptureResult, Screenshot } from '@tintype/crds/kinds/screenshot'
import { artifactsOf } from '@tintype/crds/options/artifacts'
import { withDefaults } from '@tintype/crds/options/catalogue'
import { type CacheEntry, cacheHashOf, isReused, readCacheEntry } from '@tintype/crds/records/cache'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { cacheEntryKey, objectKey } from '@tintype/crds/records/storage-keys'
import { unlessTooLarge } from '@tintype/crds/storage/checked-read'
import type { Storage } from '../storage/storage.ts'

/** Bytes that an entry may have: a result with every note of a page. */
const MAX_ENTRY_BYTES = 1024 * 1024

/** Reports ignored cache entries. */
export interface CacheChecks {
  report: ReportIgnored
  now: () => Date
}

export class PictureCache {
  readonly #storage: Pick<Storage, 'readText' | 'write' | 'copy'>
  readonly #log: Log
  /** Keys of Screenshots whose picture has gone: they are captured. */
  readonly #gone = new Set<string>()

  readonly #report: ReportIgnored
  readonly #now: () => Date

  constructor(storage: Pick<Storage, 'readText' | 'write' | 'copy'>, log: Log, { report, now }: CacheChecks) {
    this.#storage = storage
    this.#report = report
    this.#now = now
    this.#log = log
  }

  /** The picture that a pending Screenshot may be completed with. @throws RetryableError */
  async find(key: string, { spec, status = {} }: Screenshot): Promise<CacheEntry | undefined> {
    const { cachedFrom } = spec
    const isNew = (status.phase ?? 'Pending') === 'Pending' && (status.attempt ?? 0) === 0 && (status.handedBack ?? 0) === 0
    if (cachedFrom === undefined || !isNew || this.#gone.has(key)) return undefined
    const entryKey = cacheEntryKey(accountOf({ spec }), cachedFrom)
    const text = await unlessTooLarge('cache', entryKey, this.#storage.readText(entryKey, MAX_ENTRY_BYTES), this.#report)
    const entry = text === undefined ? undefined : readCacheEntry(text, this.#now())
    if (typeof entry !== 'string') return entry
    this.#report({ kind: 'cache', reason: entry, key: entryKey })
    return undefined
  }

  /** Copies the files of a picture; gives the result that they make. Undefined when one of them has gone. @throws RetryableError */
  async take(key: string, shot: Screenshot, { id, result }: CacheEntry): Promise<CaptureResult | undefined> {
    const { options } = shot.spec
    const account = accountOf(shot)
    const own = screenshotIdOf(shot.metadata)
    const copy = (extension: string, etag = '') =>
      this.#storage.copy({ from: objectKey(account, id, extension), etag, to: objectKey(account, own, extension) })
    const extensions = new Map<string, string>(artifactsOf(options).map(({ type, extension }) => [type, extension]))
    const beside = (result.artifacts ?? []).filter(({ type }) => extensions.has(type))
    const [etag, ...tags] = await Promise.all([
      copy(withDefaults(options).format, result.etag),
      ...beside.map(({ type, etag: tag }) => copy(extensions.get(type) ?? '', tag)),
    ])
    if (etag === undefined || tags.includes(undefined)) {
      this.#gone.add(key)
      return undefined
    }
    // How long its steps took is the earlier capture's story.
    const { timings: _, duration: _duration, ...kept } = result
    const artifacts = beside.map((artifact, index) => ({ ...artifact, etag: tags[index] ?? '' }))
    return { ...kept, etag, ...(artifacts.length > 0 ? { artifacts } : {}) }
  }

  /** Keeps a new picture for later requests. What is not kept is captured once more: nobody waits for it, and no failure matters. */
  async keep(shot: Screenshot): Promise<void> {
    const hash = cacheHashOf(shot)
    const { phase, completionTime, result } = shot.status ?? {}
    if (hash === undefined || phase !== 'Completed' || completionTime === undefined || !result || isReused(shot)) return
    const completedAt = new Date(completionTime).toISOString()
    const id = screenshotIdOf(shot.metadata)
    const { retentionDays } = shot.spec
    const until = retentionDays === undefined ? undefined : keptUntil(createdAtOf(id), retentionDays).toISOString()
    const entry: CacheEntry = { version: 1, id, completedAt, ...(until === undefined ? {} : { keptUntil: until }), result }
    await this.#storage.write(cacheEntryKey(accountOf(shot), hash), JSON.stringify(entry)).catch((error: unknown) => {
      this.#log.warn({ key: keyOf(shot), err: error }, 'a picture is not kept for later requests')
    })
  }

  /** The Screenshot needs it no more. */
  forget(key: string): void {
    this.#gone.delete(key)
  }
}
