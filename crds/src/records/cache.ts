import { z } from 'zod'
import { createdAtOf, isScreenshotId } from '../identifiers/ids.ts'
import { CaptureResult, type Screenshot } from '../kinds/screenshot.ts'
import type { IgnoreReason } from './ignored-objects.ts'
import { isFuture, parseStoredJson } from './stored-json.ts'

// Finished pictures that later requests may be answered with. The index is in the bucket, one object for each request that is like no other, so
// that it holds over replicas, restarts and the end of records; the picture itself stays its own record's and is copied when it is taken.

/** What is known of the newest picture of a request. */
export const CacheEntry = z.object({
  version: z.literal(1),
  /** The screenshot that has it. */
  id: z.string().refine(isScreenshotId),
  /** When it was completed. */
  completedAt: z.iso.datetime(),
  /** Until when its own request wanted its files kept, if it said so: they may be there a little longer. */
  keptUntil: z.iso.datetime().optional(),
  result: CaptureResult,
})
export type CacheEntry = z.infer<typeof CacheEntry>

/** Reads an entry; undefined for a text that this version does not know. */
export const parseCacheEntry = (text: string): CacheEntry | undefined => {
  const { data } = CacheEntry.safeParse(parseStoredJson(text))
  return data && isPicture(data.result) ? data : undefined
}

/** What an entry may be used for: a picture, within the bounds that zod leaves to the API server. */
function isPicture({ error, timings = {}, page: { responseHeaders = {}, openGraph = {}, timings: ofPage = {} } = {} }: CaptureResult) {
  const isWithin = ([most, names]: [number, object]) => Object.keys(names).length <= most
  const bounds: [number, object][] = [
    [64, timings],
    [64, responseHeaders],
    [32, openGraph],
    [16, ofPage],
  ]
  return error === undefined && bounds.every(isWithin)
}

/** Reads the entry that lies at a key, or says why it counts as absent. */
export function readCacheEntry(text: string, now: Date): CacheEntry | IgnoreReason {
  const entry = parseCacheEntry(text)
  if (!entry) return 'content'
  return isFuture(createdAtOf(entry.id), now) || isFuture(new Date(entry.completedAt), now) ? 'time' : entry
}

/** The hash under which a picture is to be kept once it is completed, and looked for. */
export const cacheHashOf = ({ spec }: Pick<Screenshot, 'spec'>): string | undefined => spec.cachedFrom ?? spec.cacheAs

/** True for a record whose picture was taken from the cache. A runner that has a claim cannot undo its attempt, so none can make one look so. */
export const isReused = ({ spec, status }: Pick<Screenshot, 'spec' | 'status'>): boolean =>
  spec.cachedFrom !== undefined && status?.phase === 'Completed' && (status.attempt ?? 0) === 0
