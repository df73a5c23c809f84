import type { Logger } from 'pino'
import { bounded } from '../runtime/race.ts'

// Checks for the kubelet whether this pod can still take screenshots. The process may respond while its browsers hang. So each probe starts a small
// screenshot in the standby browser, which no capture occupies. The response does not wait for it, because on a busy node it would come too late.

/** Milliseconds without a screenshot after which the probe fails. */
const SILENCE_MILLISECONDS = 60_000
/** Time limit for one small screenshot. Usually 20 ms; a busy node needs more. */
const SCREENSHOT_MILLISECONDS = 30_000

export interface LivenessProbeOptions {
  /** Takes a small screenshot. @throws when it fails */
  takeScreenshot: (signal: AbortSignal) => Promise<void>
  /** A monotonic clock, in milliseconds. */
  now: () => number
  log: Logger
}

/** Checks whether this pod can still take screenshots. */
export class LivenessProbe {
  readonly #options: LivenessProbeOptions
  #lastScreenshot: number
  #isRunning = false

  constructor(options: LivenessProbeOptions) {
    this.#options = options
    this.#lastScreenshot = options.now()
  }

  /** Records a successful capture, which is proof enough. */
  note(): void {
    this.#lastScreenshot = this.#options.now()
  }

  /** Starts a screenshot unless one is running. Returns false if the last success is too old. */
  check(): boolean {
    if (!this.#isRunning) void this.#takeScreenshot()
    return this.#options.now() - this.#lastScreenshot < SILENCE_MILLISECONDS
  }

  async #takeScreenshot(): Promise<void> {
    this.#isRunning = true
    using time = bounded(new AbortController().signal, SCREENSHOT_MILLISECONDS, () => new Error('no screenshot in time'))
    try {
      await this.#options.takeScreenshot(time.signal)
      this.note()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'standby browser took no screenshot')
    } finally {
      this.#isRunning = false
    }
  }
}
