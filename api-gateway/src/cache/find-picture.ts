import type { KeyRing } from '@tintype/crds/crypto/signatures'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { withDefaults } from '@tintype/crds/options/catalog'
import { type CacheOptions, cacheDefaults } from '@tintype/crds/options/output/cache'
import { type CacheEntry, readCacheEntry } from '@tintype/crds/records/cache'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { cacheEntryKey, objectKey } from '@tintype/crds/records/storage-keys'
import type { StoredFile } from '@tintype/crds/storage/port'
import { readParsed } from '@tintype/crds/storage/stored-objects'
import type { Metrics } from '../metrics/metrics.ts'
import type { FileStore, ObjectStore } from '../store/ports.ts'
import { cacheHash, type PictureRequest } from './cache-hash.ts'

// Decides whether an earlier picture can be reused. The decision is stored in the Screenshot. The operator checks again and captures the page if
// the picture no longer exists.

export interface CacheDeps {
  objects: Pick<ObjectStore, 'readText'>
  files: Pick<FileStore, 'stat'>
  keyRing: () => KeyRing
  now: () => Date
  metrics: Pick<Metrics, 'cacheLookUps'>
  /** Called for invalid objects, which count as absent. */
  report: ReportIgnored
}

/** Cache fields of a Screenshot's spec. */
export type CacheFields = Pick<ScreenshotSpec, 'cacheAs' | 'cachedFrom'>

/**
 * Looks for an earlier picture. Returns the cache fields of the new Screenshot, none for a request without `cache`.
 * @throws ApiError SERVICE_UNAVAILABLE
 */
export async function findPicture(request: PictureRequest, requested: CacheOptions | undefined, deps: CacheDeps): Promise<CacheFields> {
  if (requested?.cache !== true) return {}
  const { cacheTtl = cacheDefaults.cacheTtl, cacheRefresh = cacheDefaults.cacheRefresh, cacheKey } = requested
  const hash = cacheHash({ ...request, cacheKey }, deps.keyRing())
  const isThere = !cacheRefresh && (await readPicture(request, hash, cacheTtl, deps)) !== undefined
  deps.metrics.cacheLookUps.inc({ outcome: cacheRefresh ? 'refresh' : isThere ? 'hit' : 'miss' })
  return isThere ? { cachedFrom: hash } : { cacheAs: hash }
}

const ageOf = ({ completedAt }: CacheEntry, now: Date): number => now.getTime() - Date.parse(completedAt)

/** A cached picture that still exists. */
export interface CachedPicture {
  entry: CacheEntry
  /** Object key of its file. */
  key: string
  file: StoredFile
}

/**
 * Reads a cache entry that is at most `ttlSeconds` old, and checks the file itself, because the file may have been deleted or have expired.
 * @throws ApiError SERVICE_UNAVAILABLE
 */
export async function readPicture(
  { account, options }: Pick<PictureRequest, 'account' | 'options'>,
  hash: string,
  ttlSeconds: number,
  deps: Omit<CacheDeps, 'metrics' | 'keyRing'>,
): Promise<CachedPicture | undefined> {
  const key = cacheEntryKey(account, hash)
  const entry = await readParsed('cache', key, (text) => readCacheEntry(text, deps.now()), { storage: deps.objects, report: deps.report })
  if (!entry || ageOf(entry, deps.now()) > ttlSeconds * 1_000) return undefined
  if (entry.keptUntil !== undefined && deps.now().getTime() >= Date.parse(entry.keptUntil)) return undefined
  const fileKey = objectKey(account, entry.id, withDefaults(options).format)
  const file = await deps.files.stat(fileKey)
  return file !== undefined && file.etag === entry.result.etag ? { entry, key: fileKey, file } : undefined
}
