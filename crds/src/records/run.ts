import { z } from 'zod'
import { createdAtOf, derivedId, isScreenshotId } from '../identifiers/ids.ts'
import { RunOutcome } from '../kinds/screenshot-schedule.ts'
import type { IgnoreReason } from './ignored-objects.ts'
import { isFuture, parseStoredJson } from './stored-json.ts'

// An ended run of a schedule, as it is stored in the bucket.

export const StoredRun = z.object({
  version: z.literal(1),
  /** Id of the Screenshot. */
  id: z.string().refine(isScreenshotId),
  /** Time at which the run was due. */
  time: z.iso.datetime(),
  outcome: RunOutcome,
  completionTime: z.iso.datetime().optional(),
  /** Error code of a failed capture. */
  code: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/)
    .optional(),
})
export type StoredRun = z.infer<typeof StoredRun>

/** Reads the run of a key, or returns why it counts as absent. */
export function readRun(text: string, id: string, now: Date): StoredRun | IgnoreReason {
  const { data } = StoredRun.safeParse(parseStoredJson(text))
  if (!data) return 'content'
  if (data.id !== id) return 'id'
  return isFuture(createdAtOf(id), now) || isFuture(new Date(data.time), now) ? 'time' : data
}

/**
 * Id of the Screenshot of a run that was due at a time. It depends on nothing else, so that every leader creates the same Screenshot and a
 * run is never captured twice.
 */
export const runIdOf = (scheduleUid: string, time: Date): string => derivedId('scr', time, `${scheduleUid} ${time.toISOString()}`)
