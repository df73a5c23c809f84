/** Gives out a number of turns at the same time. The account that holds the fewest is next, then the one that has waited longest. */
export class Turns {
  readonly #held = new Map<string, number>()
  /** In order of arrival. */
  readonly #waiting = new Set<{ account: string; grant: () => void }>()
  #free: number

  constructor(max: number) {
    this.#free = max
  }

  /** Resolves when the account has a turn, to a function that ends it. Further calls of that function do nothing. */
  async take(account: string): Promise<() => void> {
    if (this.#free > 0) this.#hold(account)
    else await new Promise<void>((grant) => this.#waiting.add({ account, grant }))
    let isHeld = true
    return () => {
      if (isHeld) this.#end(account)
      isHeld = false
    }
  }

  #hold(account: string): void {
    this.#free--
    this.#held.set(account, this.#of(account) + 1)
  }

  #end(account: string): void {
    this.#free++
    const left = this.#of(account) - 1
    if (left > 0) this.#held.set(account, left)
    else this.#held.delete(account)
    const next = this.#waiting
      .values()
      .reduce<{ account: string; grant: () => void } | undefined>(
        (first, one) => (first && this.#of(first.account) <= this.#of(one.account) ? first : one),
        undefined,
      )
    if (!next) return
    this.#waiting.delete(next)
    this.#hold(next.account)
    next.grant()
  }

  #of(account: string): number {
    return this.#held.get(account) ?? 0
  }
}

/** Reads of large objects at the same time. The text of one, and the object, have several megabytes. */
const turns = new Turns(4)

/** Reads an object with the options that the cache leaves out. Few are read at a time, so that they do not fill the process. */
export async function readInTurn<T>(account: string, read: () => Promise<T>): Promise<T> {
  const end = await turns.take(account)
  try {
    return await read()
  } finally {
    end()
  }
}

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
