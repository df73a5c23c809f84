/** Time for the parts of the controller runtime; tests hand in their own. */
export type Clock = {
  /** Milliseconds that never go back. */
  monotonic(): number
  /** Epoch milliseconds. */
  wall(): number
  /** Runs `callback` once, later; returns what cancels it. */
  after(milliseconds: number, callback: () => void): () => void
}

/** The machine's clocks. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
}
