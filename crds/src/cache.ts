import { z } from 'zod'
import { isScreenshotId } from './ids.ts'
import { CaptureResult, type Screenshot } from './kinds/screenshot.ts'
import { parseJson } from './parse-json.ts'

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
export const parseCacheEntry = (text: string): CacheEntry | undefined => CacheEntry.safeParse(parseJson(text)).data

/** The hash under which a picture is to be kept once it is completed, and looked for. */
export const cacheHashOf = ({ spec }: Pick<Screenshot, 'spec'>): string | undefined => spec.cachedFrom ?? spec.cacheAs

/** True for a record whose picture was taken from the cache. A runner that has a claim cannot undo its attempt, so none can make one look so. */
export const isReused = ({ spec, status }: Pick<Screenshot, 'spec' | 'status'>): boolean =>
  spec.cachedFrom !== undefined && status?.phase === 'Completed' && (status.attempt ?? 0) === 0
