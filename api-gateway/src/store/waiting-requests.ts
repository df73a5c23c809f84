/** Requests that wait for changes of objects, by a key of the object. */
export class WaitingRequests {
  readonly #wakers = new Map<string, Set<() => void>>()

  /** Number of waiting requests. */
  get count(): number {
    return [...this.#wakers.values()].reduce((sum, wakers) => sum + wakers.size, 0)
  }

  /** Call when the object with this key has changed. */
  wake(key: string): void {
    for (const wake of this.#wakers.get(key) ?? []) wake()
  }

  /** Resolves as soon as `isOver` returns true, when the time is up, and when the signal is aborted. */
  async until(
    isOver: () => boolean,
    { key, milliseconds, signal }: { key: string; milliseconds: number; signal: AbortSignal },
  ): Promise<void> {
    if (isOver() || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = (): void => {
      if (isOver()) resolve()
    }
    const abort = (): void => resolve()
    const wakers = this.#wakers.get(key) ?? new Set()
    this.#wakers.set(key, wakers.add(wake))
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', abort, { once: true })
    await promise
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    wakers.delete(wake)
    if (wakers.size === 0) this.#wakers.delete(key)
  }
}
