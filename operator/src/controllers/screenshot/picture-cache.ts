// Reuse of pictures by later requests. The gateway found one when it wrote `spec.cachedFrom`. The operator reads the entry again and copies
// the files within the store to the keys of the new record. A new picture gets an entry for later requests. The copy belongs to the new
// record, so the earlier one may be deleted or expire.

import { keyOf } from '@tintype/crds/client/kube-object'
import { keptUntil } from '@tintype/crds/crypto/signatures'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { CaptureResult, Screenshot } from '@tintype/crds/kinds/screenshot'
import { artifactsOf } from '@tintype/crds/options/artifacts'
import { withDefaults } from '@tintype/crds/options/catalog'
import { type CacheEntry, cacheHashOf, isReused, readCacheEntry } from '@tintype/crds/records/cache'
import { digestOf, hasOwnName, readNamedRecord } from '@tintype/crds/records/named-record'
import { accountOf } from '@tintype/crds/records/record'
import { cacheEntryKey, namedRecordKey, objectKey } from '@tintype/crds/records/storage-keys'
import { findArchived } from '@tintype/crds/storage/archive'
import { readParsed } from '@tintype/crds/storage/stored-objects'
import { LRUCache } from 'lru-cache'
import { withWhole } from '../../kube/read-object.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { isNew } from './status.ts'

type PictureCacheDeps = Pick<TermDeps, 'storage' | 'report' | 'now' | 'log'>

export class PictureCache {
  readonly #deps: PictureCacheDeps
  /** Keys of Screenshots whose picture no longer exists: they are captured. */
  readonly #missing = new Set<string>()

  constructor(deps: PictureCacheDeps) {
    this.#deps = deps
  }

  /** Finds the entry that a pending Screenshot may reuse. @throws RetryableError */
  async find(key: string, shot: Screenshot): Promise<CacheEntry | undefined> {
    const { cachedFrom } = shot.spec
    if (cachedFrom === undefined || !isNew(shot) || this.#missing.has(key)) return undefined
    const entryKey = cacheEntryKey(accountOf(shot), cachedFrom)
    return readParsed('cache', entryKey, (text) => readCacheEntry(text, this.#deps.now()), this.#deps)
  }

  /** Copies the files of a picture. Returns the result; undefined when a file no longer exists. @throws RetryableError */
  async take(key: string, shot: Screenshot, { id, result }: CacheEntry): Promise<CaptureResult | undefined> {
    const { options } = shot.spec
    const account = accountOf(shot)
    const own = screenshotIdOf(shot.metadata)
    const copy = (extension: string, etag = '') =>
      this.#deps.storage.copy({ from: objectKey(account, id, extension), etag, to: objectKey(account, own, extension) })
    const extensions = new Map<string, string>(artifactsOf(options).map(({ type, extension }) => [type, extension]))
    const extras = (result.artifacts ?? []).filter(({ type }) => extensions.has(type))
    const [etag, ...tags] = await Promise.all([
      copy(withDefaults(options).format, result.etag),
      ...extras.map(({ type, etag: tag }) => copy(extensions.get(type) ?? '', tag)),
    ])
    if (etag === undefined || tags.includes(undefined)) {
      this.#missing.add(key)
      return undefined
    }
    // The timings belong to the earlier capture.
    const { timings: _, duration: _duration, ...kept } = result
    const artifacts = extras.map((artifact, index) => ({ ...artifact, etag: tags[index] ?? '' }))
    return { ...kept, etag, ...(artifacts.length > 0 ? { artifacts } : {}) }
  }

  /** Stores an entry for a new picture. A failure is harmless: the page is captured again, and no caller waits for the entry. */
  async keep(shot: Screenshot): Promise<void> {
    const hash = cacheHashOf(shot)
    const { phase, completionTime, result } = shot.status ?? {}
    if (hash === undefined || phase !== 'Completed' || completionTime === undefined || !result || isReused(shot)) return
    const completedAt = new Date(completionTime).toISOString()
    const id = screenshotIdOf(shot.metadata)
    const { retentionDays } = shot.spec
    const until = retentionDays === undefined ? undefined : keptUntil(createdAtOf(id), retentionDays).toISOString()
    const entry: CacheEntry = { version: 1, id, completedAt, ...(until === undefined ? {} : { keptUntil: until }), result }
    await this.#deps.storage.write(cacheEntryKey(accountOf(shot), hash), JSON.stringify(entry)).catch((error: unknown) => {
      this.#deps.log.warn({ key: keyOf(shot), err: error }, 'cache entry not written')
    })
  }

  /** Removes the state of a Screenshot. */
  forget(key: string): void {
    this.#missing.delete(key)
  }
}

// Screenshots that are applied again after their record was archived, as GitOps does. They take the result of the record: nothing is captured
// and nothing is charged.

type RestorerDeps = Pick<TermDeps, 'clients' | 'storage' | 'report' | 'now'>

const MAX_REMEMBERED = 10_000

export class Restorer {
  readonly #deps: RestorerDeps
  /** Uids of Screenshots without such a record. */
  readonly #without = new LRUCache<string, true>({ max: MAX_REMEMBERED })

  constructor(deps: RestorerDeps) {
    this.#deps = deps
  }

  /** Finds the completed record whose result a new Screenshot takes: same account, name and spec. @throws RetryableError, KubeError */
  async find(shot: Screenshot): Promise<Screenshot | undefined> {
    if (!isNew(shot) || !hasOwnName(shot) || this.#without.has(shot.metadata.uid)) return undefined
    const record = await this.#read(shot)
    if (!record) this.forbid(shot)
    return record
  }

  /** Makes the Screenshot be captured. */
  forbid({ metadata }: Screenshot): void {
    this.#without.set(metadata.uid, true)
  }

  async #read(shot: Screenshot): Promise<Screenshot | undefined> {
    const account = accountOf(shot)
    const key = namedRecordKey(account, shot.metadata.name)
    const named = await readParsed('name', key, (text) => readNamedRecord(text, this.#deps.now()), this.#deps)
    const digest = named && (await withWhole(shot, this.#deps.clients.screenshots, async (whole) => digestOf(whole)))
    if (!named || named.digest !== digest) return undefined
    const record = await findArchived(account, named.id, this.#deps)
    const isUsable = record?.metadata.name === shot.metadata.name && record.status?.phase === 'Completed'
    return isUsable ? record : undefined
  }
}
