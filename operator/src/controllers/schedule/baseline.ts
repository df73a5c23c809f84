// The picture that the next run of a schedule is compared with. It is a copy in the bucket, so that it outlives the retention of its run.

import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { KeptBaseline, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ScheduleBaseline, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { findBaselineProblem, toBaseline } from '@tintype/crds/records/approval'
import { accountOf } from '@tintype/crds/records/record'
import { baselineOf } from '@tintype/crds/records/run'
import { baselineKey, scheduleBaselinesPrefix } from '@tintype/crds/records/storage-keys'
import { PAGE } from '@tintype/crds/storage/port'
import type { Storage } from '../../storage/storage.ts'
import type { EndedRun } from './ended-runs.ts'

/** Which picture the schedule needs after some of its runs ended. */
export interface BaselineChange {
  /** The present picture, unless the bucket has lost it. */
  kept: ScheduleBaseline | undefined
  /** Runs whose picture replaces it, the preferred one first. */
  candidates: readonly EndedRun[]
  /** True if a capture did not find the present picture in the bucket. */
  isLost: boolean
}

/**
 * Finds the pictures that may replace the baseline: those of completed runs that show the page and were due after the present baseline. Without
 * `approveFirst`, only a person sets an approved one. Pure.
 */
export function chooseBaseline(schedule: StoredSchedule, ended: readonly EndedRun[]): BaselineChange {
  const present = baselineOf(schedule)
  const isLost = present !== undefined && ended.some((run) => isWithout(present, run))
  const kept = isLost ? undefined : present
  const { baseline: mode = 'Previous', approveFirst = false } = schedule.spec.comparison ?? {}
  const carrying = kept && mode === 'Approved' ? ended.filter((run) => isCarrying(run, kept) && isUsable(run, schedule)) : []
  if (carrying.length > 0) return { kept, candidates: carrying, isLost }
  if (!schedule.spec.comparison || (mode === 'Approved' && (kept || !approveFirst))) return { kept, candidates: [], isLost }
  const usable = ended
    .filter((run) => isUsable(run, schedule) && (!present || Date.parse(run.time) > Date.parse(present.time)))
    .sort((one, other) => Date.parse(one.time) - Date.parse(other.time))
  return { kept, candidates: mode === 'Approved' ? usable : usable.reverse(), isLost }
}

/** True for a run of another engine that shows what the approved picture shows. Its picture replaces that one, so that later runs are compared exactly. */
export const isCarrying = ({ shot }: EndedRun, { id }: ScheduleBaseline): boolean => {
  const { comparison } = shot?.status?.result ?? {}
  return (
    shot?.spec.options?.compareTo === id && comparison?.engineChanged === true && !comparison.changed && comparison.skipped === undefined
  )
}

const isWithout = ({ id }: ScheduleBaseline, { code, shot }: EndedRun): boolean =>
  code === 'BASELINE_NOT_FOUND' && shot?.spec.options?.compareTo === id

/** True for a picture that later runs can be compared with. The account of the schedule may have changed since the run. */
const isUsable = ({ shot }: EndedRun, schedule: StoredSchedule): boolean =>
  shot !== undefined &&
  accountOf(shot) === accountOf(schedule) &&
  findBaselineProblem(shot, schedule.spec.comparison?.acceptStatus) === undefined &&
  shot.status?.result?.etag !== undefined

/**
 * Copies the picture of the first candidate that still exists. Returns the baseline from now on.
 * @throws RetryableError
 */
export async function keepBaseline(
  schedule: StoredSchedule,
  { kept, candidates }: BaselineChange,
  storage: Pick<Storage, 'copy'>,
): Promise<ScheduleBaseline | undefined> {
  for (const { shot, time } of candidates) {
    const copied = shot && (await copyPicture(schedule, shot, time, storage))
    if (copied) return copied
  }
  return kept
}

/** Copies the picture of a run, and its text. Returns undefined if its file was deleted or replaced. @throws RetryableError */
export async function copyPicture(
  { metadata, spec }: StoredSchedule,
  shot: Screenshot,
  time: string,
  storage: Pick<Storage, 'copy'>,
): Promise<ScheduleBaseline | undefined> {
  const { key, etag = '', text } = toBaseline(shot)
  const to = baselineKey(accountOf({ spec }), metadata.uid, screenshotIdOf(shot.metadata))
  const copied = await storage.copy({ from: key, etag, to })
  if (copied === undefined) return undefined
  const textEtag = text && (await storage.copy({ from: text.key, etag: text.etag, to: textKeyOf(to) }))
  return toKept(shot, { time, key: to, etag: copied, textEtag })
}

/** A copied picture with what its run knows about it. */
export function toKept(
  shot: Screenshot,
  { time, key, etag, textEtag }: { time: string; key: string; etag: string; textEtag: string | undefined },
): ScheduleBaseline {
  const { ignored, finalUrl, forms, engine } = toBaseline(shot)
  const kept: ScheduleBaseline = { id: screenshotIdOf(shot.metadata), time: new Date(time).toISOString(), key, etag }
  // A record from the bucket may have more than a status can store.
  for (const [field, value] of Object.entries({ ignored, finalUrl, forms, engine })) {
    const { data } = KeptBaseline.partial().safeParse({ [field]: value })
    if (value !== undefined && data) Object.assign(kept, data)
  }
  return { ...kept, ...(textEtag === undefined ? {} : { text: { key: textKeyOf(key), etag: textEtag } }) }
}

/** Key of the text beside a kept picture. */
const textKeyOf = (key: string): string => `${key}.txt`

/** Removes the pictures of a schedule that neither it nor an open run needs. @throws RetryableError */
export async function removeOldPictures(
  { metadata, spec }: StoredSchedule,
  needed: ReadonlySet<string>,
  storage: Pick<Storage, 'list' | 'remove'>,
): Promise<void> {
  const keys = await storage.list(scheduleBaselinesPrefix(accountOf({ spec }), metadata.uid), { limit: PAGE })
  const kept = new Set([...needed, ...[...needed].map(textKeyOf)])
  const old = keys.filter((key) => !kept.has(key))
  if (old.length > 0) await storage.remove(old)
}
