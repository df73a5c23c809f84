import { readCacheEntry } from '@tintype/crds/cache'
import { type CacheOptions, cacheDefaults } from '@tintype/crds/capture-options/cache'
import { withDefaults } from '@tintype/crds/capture-options/catalogue'
import type { KeyRing } from '@tintype/crds/download-link'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { unlessTooLarge } from '@tintype/crds/storage/checked-read'
import { cacheEntryKey, objectKey } from '@tintype/crds/storage-keys'
import { MAX_OBJECT_BYTES } from '@tintype/crds/storage-limits'
import type { ReportIgnored } from '@tintype/crds/stored/ignored-objects'
import type { Metrics } from '../metrics.ts'
import type { FileStore, ObjectStore } from '../store/ports.ts'
import { cacheHash, type PictureRequest } from './cache-hash.ts'

// Whether there is a picture that a request may be answered with. What is decided here stands in the object; the operator looks once more and
// has the page captured after all if the picture has gone meanwhile.

export interface CacheDeps {
  objects: Pick<ObjectStore, 'read'>
  files: Pick<FileStore, 'stat'>
  keyRing: () => KeyRing
  now: () => Date
  metrics: Pick<Metrics, 'cacheLookUps'>
  /** Told of objects that count as absent. */
  report: ReportIgnored
}

/** The fields of a spec that are about the cache. */
export type CacheFields = Pick<ScreenshotSpec, 'cacheAs' | 'cachedFrom'>

/**
 * Looks for a picture; gives what the object says of it, which is nothing for a request without `cache`.
 * @throws ApiError SERVICE_UNAVAILABLE
 */
export async function findPicture(request: PictureRequest, requested: CacheOptions | undefined, deps: CacheDeps): Promise<CacheFields> {
  if (requested?.cache !== true) return {}
  const { cacheTtl = cacheDefaults.cacheTtl, cacheRefresh = cacheDefaults.cacheRefresh, cacheKey } = requested
  const hash = cacheHash({ ...request, cacheKey }, deps.keyRing())
  const isThere = !cacheRefresh && (await hasPicture(request, hash, cacheTtl, deps))
  deps.metrics.cacheLookUps.inc({ outcome: cacheRefresh ? 'refresh' : isThere ? 'hit' : 'miss' })
  return isThere ? { cachedFrom: hash } : { cacheAs: hash }
}

/** Files that were deleted, or that have expired, are not there: the file is what counts. */
async function hasPicture({ account, options }: PictureRequest, hash: string, ttlSeconds: number, deps: CacheDeps): Promise<boolean> {
  const key = cacheEntryKey(account, hash)
  const stored = await unlessTooLarge('cache', key, deps.objects.read(key, MAX_OBJECT_BYTES.cacheEntry), deps.report)
  const entry = stored && readCacheEntry(stored.text, deps.now())
  if (typeof entry === 'string') deps.report({ kind: 'cache', reason: entry, key })
  const now = deps.now().getTime()
  if (typeof entry !== 'object' || now - Date.parse(entry.completedAt) > ttlSeconds * 1_000) return false
  if (entry.keptUntil !== undefined && now >= Date.parse(entry.keptUntil)) return false
  const file = await deps.files.stat(objectKey(account, entry.id, withDefaults(options).format))
  return file !== undefined && file.etag === entry.result.etag
}
