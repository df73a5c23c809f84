import type { RunnerPoolSpec } from '@tintype/crds/kinds/runner-pool'
import { limitsOf } from '../runner/pool-limits.ts'

/** What the size of a pool follows from. */
export interface Load {
  busy: number
  queued: number
  meanCaptureMilliseconds: number
}

/** What a capture is taken to last before one has been measured. */
const FIRST_GUESS_MILLISECONDS = 3_000
/** Weight of the newest capture in the mean. */
const WEIGHT = 0.1

/** Pods that a pool should have: the busy ones, enough for the queue to drain in time, and `minIdle` idle ones on top. */
export function wantedPods(spec: RunnerPoolSpec, load: Load): number {
  return Math.min(limitsOf(spec).maxPods, demandedPods(spec, load))
}

/** As many as it would have if `maxPods` did not bound it. */
export function demandedPods(spec: RunnerPoolSpec, { busy, queued, meanCaptureMilliseconds }: Load): number {
  const { minIdle, targetDrainMilliseconds } = limitsOf(spec)
  return busy + Math.ceil((queued * meanCaptureMilliseconds) / targetDrainMilliseconds) + minIdle
}

/** Mean time of a pool's captures, the newest counting most. */
export class CaptureTimes {
  readonly #means = new Map<string, number>()

  of(pool: string): number {
    return this.#means.get(pool) ?? FIRST_GUESS_MILLISECONDS
  }

  note(pool: string, milliseconds: number): void {
    const mean = this.#means.get(pool)
    this.#means.set(pool, mean === undefined ? milliseconds : mean + WEIGHT * (milliseconds - mean))
  }
}
