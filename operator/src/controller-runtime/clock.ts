/** Clock of the controller runtime. Tests pass their own. */
export type Clock = {
  /** Milliseconds that never decrease. */
  monotonic(): number
  /** Epoch milliseconds. */
  wall(): number
  /** Runs `callback` once after the delay. Returns a function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void
}

/** The system clocks. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}
