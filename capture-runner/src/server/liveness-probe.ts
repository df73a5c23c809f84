import type { Logger } from 'pino'
import { bounded } from '../runtime/race.ts'

// Whether this pod can still take pictures, for the kubelet's liveness probe. A process that answers proves little: its browsers may hang. So each
// probe has a tiny picture taken in the browser that waits for its turn, which no capture occupies; the answer does not wait for it, because on a
// busy node a late answer would be taken for none.

/** Milliseconds without any picture after which the pod is to be replaced. */
const SILENCE_MILLISECONDS = 60_000
/** Milliseconds that one tiny picture may take: 20 are usual, a busy node needs more. */
const BEAT_MILLISECONDS = 30_000

export interface LivenessProbeOptions {
  /** Takes a picture. @throws when there is none */
  beat: (signal: AbortSignal) => Promise<void>
  /** Milliseconds of a clock that never goes back. */
  now: () => number
  log: Logger
}

/** Checks that this pod can still take pictures. */
export class LivenessProbe {
  readonly #options: LivenessProbeOptions
  #lastPicture: number
  #isBeating = false

  constructor(options: LivenessProbeOptions) {
    this.#options = options
    this.#lastPicture = options.now()
  }

  /** A capture has succeeded, which proves as much. */
  note(): void {
    this.#lastPicture = this.#options.now()
  }

  /** Has a picture taken, unless one is being taken. False when there has been none for too long. */
  check(): boolean {
    if (!this.#isBeating) void this.#beat()
    return this.#options.now() - this.#lastPicture < SILENCE_MILLISECONDS
  }

  async #beat(): Promise<void> {
    this.#isBeating = true
    using time = bounded(new AbortController().signal, BEAT_MILLISECONDS, () => new Error('no picture in time'))
    try {
      await this.#options.beat(time.signal)
      this.note()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the waiting browser gave no picture')
    } finally {
      this.#isBeating = false
    }
  }
}
