import { pause } from '../runtime/race.ts'

/** Real time between two advances. */
const TICK_MILLISECONDS = 16
/** Maximum advance at once, so that a page that is slower than real time stays responsive. */
const MAX_TICK_MILLISECONDS = 100

/** Keeps a page's clock running at real speed, for steps that do not advance it. */
export class RealSpeed {
  readonly #advance: (milliseconds: number, signal: AbortSignal) => Promise<unknown>
  #running: { isOver: boolean; ended: Promise<void> } | undefined

  /** @param advance advances the clock at once */
  constructor(advance: (milliseconds: number, signal: AbortSignal) => Promise<unknown>) {
    this.#advance = advance
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Runs until the signal aborts, or until {@link stop} or {@link cancel}. */
  start(signal: AbortSignal): void {
    if (this.#running) return
    const running = { isOver: false, ended: Promise.resolve() }
    running.ended = this.#run(running, signal).catch(() => {})
    this.#running = running
  }

  /** Resolves when the last advance has ended. */
  async stop(): Promise<void> {
    const running = this.#running
    if (!running) return
    this.#running = undefined
    running.isOver = true
    await running.ended
  }

  /** Stops without a wait for the page. */
  cancel(): void {
    if (this.#running) this.#running.isOver = true
  }

  async #run(running: { isOver: boolean }, signal: AbortSignal): Promise<void> {
    let before = performance.now()
    do {
      await pause(TICK_MILLISECONDS, signal)
      const now = performance.now()
      await this.#advance(Math.min(now - before, MAX_TICK_MILLISECONDS), signal)
      before = now
    } while (!running.isOver)
  }
}
