import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { type ActiveRun, MAX_RECENT_RUNS, type RecentRun, type StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { timeOfRun } from '@tintype/crds/records/run'

/** A run that has ended, with its Screenshot unless that was deleted. */
export interface EndedRun extends RecentRun {
  shot?: Screenshot
}

export const toActive = (shot: Screenshot): ActiveRun => ({ id: screenshotIdOf(shot.metadata), time: timeOfRun(shot) })

/** The end of a finished run. */
export function toEnded(shot: Screenshot): EndedRun {
  const { phase, completionTime, result } = shot.status ?? {}
  const code = result?.error?.code
  const { changed, changedRatio, skipped } = result?.comparison ?? {}
  return {
    ...toActive(shot),
    ...(completionTime === undefined ? {} : { completionTime: new Date(completionTime).toISOString() }),
    outcome: phase === 'Completed' ? 'completed' : 'failed',
    ...(code === undefined ? {} : { code }),
    ...(changed === undefined || skipped !== undefined ? {} : { changed }),
    ...(changedRatio === undefined ? {} : { changedRatio }),
    ...(result?.unfit === undefined ? {} : { unfit: result.unfit }),
    shot,
  }
}

/** The part of a run that the status and the bucket keep. */
export function toRecent({ shot: _, ...run }: EndedRun): RecentRun {
  return run
}

/** Runs the newest first. */
export const byTime = (one: { time: string }, other: { time: string }): number => Date.parse(other.time) - Date.parse(one.time)

/** The last runs of a schedule with those that ended now, the newest first. */
export function mergeRuns({ status }: Pick<StoredSchedule, 'status'>, ended: readonly EndedRun[]): RecentRun[] {
  const ids = new Set(ended.map(({ id }) => id))
  const known = (status?.recentRuns ?? []).filter(({ id }) => !ids.has(id))
  return [...ended.map(toRecent), ...known].sort(byTime).slice(0, MAX_RECENT_RUNS)
}
