import type { Clock } from '../../../../operator/src/controller-runtime/clock.ts'

/** A clock that the test advances. Timers run in order when they are due. */
export class ManualClock implements Clock {
  #milliseconds = 1_000_000
  #wallOffset = 1_700_000_000_000
  #timers: { at: number; callback: () => void }[] = []

  monotonic(): number {
    return this.#milliseconds
  }

  wall(): number {
    return this.#milliseconds + this.#wallOffset
  }

  after(milliseconds: number, callback: () => void): () => void {
    // As in Node: delays that do not fit into 31 bits run at once.
    const delay = milliseconds > 2 ** 31 - 1 ? 1 : milliseconds
    const timer = { at: this.#milliseconds + delay, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  advance(milliseconds: number): void {
    const end = this.#milliseconds + milliseconds
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#timers = this.#timers.filter((other) => other !== next)
      this.#milliseconds = Math.max(this.#milliseconds, next.at)
      next.callback()
    }
    this.#milliseconds = end
  }

  /** Time passes without any timer running: a frozen process, or a blocked event loop. */
  freeze(milliseconds: number): void {
    this.#milliseconds += milliseconds
  }

  /** The machine is suspended: only the wall clock advances. */
  suspend(milliseconds: number): void {
    this.#wallOffset += milliseconds
  }

  get pending(): number {
    return this.#timers.length
  }
}
