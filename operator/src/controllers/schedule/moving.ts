// What the last run of a schedule learned about parts of the page that never rest. The next run does not wait for them. Pure.

import { MAX_SHORT_RUNS, type MovingParts } from '@tintype/crds/kinds/comparison'
import type { StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { byTime, type EndedRun } from './ended-run.ts'

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
