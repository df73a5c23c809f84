// What the runs of a schedule that ended show: whether the page is shown, what changed, and what moved. Pure.

import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { MAX_SHORT_RUNS, type MovingParts, type UnfitReason } from '@tintype/crds/kinds/comparison'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import {
  type ActiveRun,
  type LastComparison,
  MAX_RECENT_RUNS,
  type RecentRun,
  type StoredSchedule,
} from '@tintype/crds/kinds/screenshot-schedule'
import { timeOfRun } from '@tintype/crds/records/run'
import { type Condition, ConditionType, findCondition, toReason } from '@tintype/crds/schema/conditions'

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

// What the last run of a schedule learned about parts of the page that never rest. The next run does not wait for them. Pure.

/** The last of the runs that completed now. */
const lastCompleted = (ended: readonly EndedRun[]): EndedRun | undefined =>
  ended.filter(({ outcome, shot }) => outcome === 'completed' && shot).toSorted(byTime)[0]

/** What moved in the last run that completed. Only runs that are compared wait long. */
export function toMoving({ spec, status }: StoredSchedule, ended: readonly EndedRun[]): MovingParts | undefined {
  if (!spec.comparison) return undefined
  const last = lastCompleted(ended)
  if (!last) return status?.moving
  const found = last.shot?.status?.result?.moving
  const before = last.shot?.spec.scheduleRef?.moving
  return found && { ...found, runs: before ? Math.min(MAX_SHORT_RUNS, (before.runs ?? 0) + 1) : 0 }
}

/** A message that suggests to ignore elements that were not seen moving before; undefined: there are none. `moving`: see {@link toMoving}. */
export function describeNewMoving(
  { spec, status }: StoredSchedule,
  ended: readonly EndedRun[],
  moving: MovingParts | undefined,
): string | undefined {
  const { ignore = [] } = spec.comparison ?? {}
  const known = [...(status?.moving?.elements ?? []), ...ignore.map(({ selector }) => selector)]
  const found = moving?.elements.filter((element) => !known.includes(element)) ?? []
  const run = lastCompleted(ended)
  if (!run || found.length === 0) return undefined
  return `The page still moved when run ${run.id} was captured, in ${found.join(', ')}. To leave that out of comparisons, add it to spec.comparison.ignore.`
}

// Whether the runs of a schedule show the page. A run that shows something else, such as an error page, is not compared. Pure.

const MEANINGS: Readonly<Record<UnfitReason, string>> = {
  blank: 'one color and almost nothing else',
  bot_challenge: 'a bot challenge or a captcha',
  http_error: 'an error page',
  login: 'a login form where there was none',
  broken_off: 'a page whose response broke off',
}

/** Runs that say whether the page is shown, the oldest first. */
const telling = (ended: readonly EndedRun[]): EndedRun[] =>
  ended
    .filter(({ outcome }) => outcome === 'completed')
    .sort(byTime)
    .reverse()

/** The run that decides the condition Fit; undefined: the condition stays as it is. */
export const fitnessOf = ({ spec }: Pick<StoredSchedule, 'spec'>, ended: readonly EndedRun[]): RecentRun | undefined =>
  spec.comparison ? telling(ended).at(-1) : undefined

/** The condition Fit. */
export const toFitCondition = ({ id, unfit }: RecentRun): Omit<Condition, 'lastTransitionTime'> => ({
  type: ConditionType.fit,
  ...(unfit === undefined
    ? { status: 'True', reason: 'PageShown', message: 'The last run shows the page.' }
    : { status: 'False', reason: toReason(unfit), message: `Run ${id} shows ${MEANINGS[unfit]}. It is not compared.` }),
})

/** Runs after which the condition has another status than before, the oldest first. */
export function findFitnessChanges({ spec, status }: Pick<StoredSchedule, 'spec' | 'status'>, ended: readonly EndedRun[]): RecentRun[] {
  if (!spec.comparison) return []
  let isFit = findCondition(status?.conditions, ConditionType.fit)?.status !== 'False'
  return telling(ended).filter(({ unfit }) => {
    const isChange = isFit !== (unfit === undefined)
    isFit = unfit === undefined
    return isChange
  })
}

/** The last comparison, of the runs that ended now and the one in the status. An approved run does not differ any more. */
export function lastComparisonOf(
  { spec, status }: StoredSchedule,
  ended: readonly EndedRun[],
  approvedId?: string,
): LastComparison | undefined {
  if (!spec.comparison) return undefined
  const found = [...ended.flatMap(toComparison), ...(status?.lastComparison ? [status.lastComparison] : [])]
  const last = found.reduce<LastComparison | undefined>(
    (newest, one) => (newest === undefined || Date.parse(one.time) > Date.parse(newest.time) ? one : newest),
    undefined,
  )
  return last?.id === approvedId ? undefined : last
}

/** Empty if the run was not compared. */
export function toComparison({ id, time, shot }: EndedRun): LastComparison[] {
  const to = shot?.spec.options?.compareTo
  const { comparison } = shot?.status?.result ?? {}
  if (to === undefined || comparison === undefined || comparison.skipped !== undefined) return []
  const { changed, changedRatio, changedPixels, sizeChanged, textChanged, wordsAdded, wordsRemoved } = comparison
  return [
    {
      ...{ id, time, to, changed },
      ...(changedRatio === undefined ? {} : { changedRatio }),
      ...(changedPixels === undefined ? {} : { changedPixels }),
      ...(sizeChanged === undefined ? {} : { sizeChanged }),
      ...(textChanged === undefined ? {} : { textChanged, wordsAdded, wordsRemoved }),
    },
  ]
}

/** The changes of runs that ended now, oldest first, without those that were reported before. */
export function findChanges(before: LastComparison | undefined, ended: readonly EndedRun[]): LastComparison[] {
  const found = ended.flatMap(toComparison).sort((one, other) => Date.parse(one.time) - Date.parse(other.time))
  return found.filter((one, index) => one.changed && !isSameChange(one, found[index - 1] ?? before))
}

/** A share of the pixels in percent. */
export const toShare = (ratio: number): string => `${(ratio * 100).toPrecision(2)} %`

/** True if the same change was reported before: with an approved baseline, every run finds it again. */
export const isSameChange = (one: LastComparison, before: LastComparison | undefined): boolean =>
  before?.changed === true &&
  before.to === one.to &&
  before.changedPixels === one.changedPixels &&
  JSON.stringify([before.wordsAdded, before.wordsRemoved]) === JSON.stringify([one.wordsAdded, one.wordsRemoved])
