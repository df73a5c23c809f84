import { isNearCaptureLimit } from '../runner/runners.ts'
import { type Groups, roomIn } from './groups.ts'
import type { PoolAction, PoolObserved } from './state.ts'

// How fast a pool grows. Pure. A pool that knows its template doubles; one that does not tries it with a few pods first.

const FIRST_BACKOFF_MILLISECONDS = 1_000
const MAX_BACKOFF_MILLISECONDS = 60_000
const MIN_PATIENCE_MILLISECONDS = 1_000
const MAX_PATIENCE_MILLISECONDS = 10_000
/** Pods that may be on their way at once while none of the template has worked yet: what fails for all fails for these. */
const FIRST_STARTS = 4
/** And at most, however large the pool: images are pulled and pods scheduled for others too. */
const MAX_STARTS = 100

/** Too few: more are created, as far as there is room, at the pool's pace, and slower each time that one has failed to start. */
export function grow(groups: Groups, observed: PoolObserved, missing: number, now: Date): PoolAction[] {
  const { memory, nextOrdinal } = observed
  const calm: PoolAction[] = memory.lackSince === undefined ? [] : [{ do: 'noteLack', since: undefined }]
  const count = Math.min(missing, roomIn(groups, observed, now), pace(groups, observed))
  if (count <= 0) return calm
  const left = memory.lastFailureAt + backoffMilliseconds(memory.failedStarts) - now.getTime()
  if (left > 0) return [{ do: 'requeue', afterMilliseconds: left }]
  const patience = patienceLeft(groups, observed, missing, now)
  if (patience > 0)
    return [
      { do: 'noteLack', since: memory.lackSince ?? now.getTime() },
      { do: 'requeue', afterMilliseconds: patience },
    ]
  return [...calm, { do: 'create', ordinals: Array.from({ length: count }, (_, place) => nextOrdinal + place) }]
}

/** How many more may be on their way: as many as have shown that this template works, so that a pool doubles with each round. */
function pace({ starting, busy, idle, dedicated }: Groups, { templateHash, unseen, memory }: PoolObserved): number {
  const proven = [...busy, ...idle, ...dedicated].filter((runner) => runner.templateHash === templateHash && runner.sandbox).length
  // After a failure one at a time, until one has come up.
  const starts = memory.failedStarts > 0 ? 1 : Math.min(MAX_STARTS, Math.max(FIRST_STARTS, proven))
  return starts - starting.length - unseen
}

/**
 * Milliseconds for which missing idle pods are accepted. While nothing waits, busy pods become idle again, mostly sooner than a new pod would be ready.
 * Otherwise each single capture would cost a pod.
 */
function patienceLeft(
  { busy }: Groups,
  { pool, queued, memory, templateHash: wanted, meanCaptureMilliseconds }: PoolObserved,
  missing: number,
  now: Date,
): number {
  const returning = busy.filter((runner) => !isNearCaptureLimit(runner, pool?.spec ?? {}) && runner.templateHash === wanted).length
  if (queued > 0 || returning < missing) return 0
  const patience = Math.min(MAX_PATIENCE_MILLISECONDS, Math.max(MIN_PATIENCE_MILLISECONDS, 2 * meanCaptureMilliseconds))
  return (memory.lackSince ?? now.getTime()) + patience - now.getTime()
}

const backoffMilliseconds = (failedStarts: number): number =>
  failedStarts === 0 ? 0 : Math.min(MAX_BACKOFF_MILLISECONDS, FIRST_BACKOFF_MILLISECONDS * 2 ** (failedStarts - 1))
