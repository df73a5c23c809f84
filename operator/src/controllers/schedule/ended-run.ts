import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ActiveRun, RecentRun } from '@tintype/crds/kinds/screenshot-schedule'
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
