import type { RunnerPoolSpec } from '@tintype/crds/kinds/runner-pool'
import { limitsOf } from '../runner/pod.ts'

/** The load from which the size of a pool is computed. */
export interface Load {
  busy: number
  queued: number
  meanCaptureMilliseconds: number
}

/** Assumed duration of a capture before one has been measured. */
const FIRST_GUESS_MILLISECONDS = 3_000
/** Weight of the newest capture in the mean. */
const WEIGHT = 0.1

/** Number of pods that a pool should have: the busy ones, enough to drain the queue in time, and `minIdle` idle ones. */
export function wantedPods(spec: RunnerPoolSpec, load: Load): number {
  return Math.min(limitsOf(spec).maxPods, demandedPods(spec, load))
}

/** The number without the limit `maxPods`. */
export function demandedPods(spec: RunnerPoolSpec, { busy, queued, meanCaptureMilliseconds }: Load): number {
  const { minIdle, targetDrainMilliseconds } = limitsOf(spec)
  return busy + Math.ceil((queued * meanCaptureMilliseconds) / targetDrainMilliseconds) + minIdle
}

/** Exponentially weighted mean of the capture times of each pool. */
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
