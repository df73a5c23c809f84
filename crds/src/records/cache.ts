import { z } from 'zod'
import { createdAtOf, isScreenshotId } from '../identifiers/ids.ts'
import { CaptureResult, type Screenshot } from '../kinds/screenshot.ts'
import { type IgnoreReason, isFuture, parseStoredJson } from './ignored-objects.ts'

// Completed pictures that later requests can reuse. The index is in the bucket, with one object per distinct request, so that it survives restarts
// and the end of records, and all replicas share it. The picture belongs to its own record, and is copied when a request reuses it.

/** The newest picture of a request. */
export const CacheEntry = z.object({
  version: z.literal(1),
  /** The screenshot that has the picture. */
  id: z.string().refine(isScreenshotId),
  /** Time of completion. */
  completedAt: z.iso.datetime(),
  /** End of the retention that its own request set, if any. The files may exist a little longer. */
  keptUntil: z.iso.datetime().optional(),
  result: CaptureResult,
})
export type CacheEntry = z.infer<typeof CacheEntry>

/** Reads an entry; undefined for a text in another format. */
export const parseCacheEntry = (text: string): CacheEntry | undefined => {
  const { data } = CacheEntry.safeParse(parseStoredJson(text))
  return data && isPicture(data.result) ? data : undefined
}

/** True for a picture within the limits that the zod schema does not check, because the API server does. */
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

/** Reads an entry, or returns why it counts as absent. */
export function readCacheEntry(text: string, now: Date): CacheEntry | IgnoreReason {
  const entry = parseCacheEntry(text)
  if (!entry) return 'content'
  return isFuture(createdAtOf(entry.id), now) || isFuture(new Date(entry.completedAt), now) ? 'time' : entry
}

/** The hash under which to cache the completed picture, and to look for an earlier one. */
export const cacheHashOf = ({ spec }: Pick<Screenshot, 'spec'>): string | undefined => spec.cachedFrom ?? spec.cacheAs

/** True for a record with a cached picture. A runner cannot forge this, because it cannot reset the attempt of its claim. */
export const isReused = ({ spec, status }: Pick<Screenshot, 'spec' | 'status'>): boolean =>
  spec.cachedFrom !== undefined && status?.phase === 'Completed' && (status.attempt ?? 0) === 0
