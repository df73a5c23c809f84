const TTL_MILLISECONDS = 5_000
const MAX_ENTRIES = 10_000
const REQUESTS_PER_SECOND = 20

interface Entry {
  at: number
  response: Promise<unknown>
}

const isNothing = (found: unknown): boolean => found === undefined || (Array.isArray(found) && found.length === 0)

/**
 * Limits requests to the API server for objects that the informer cache does not have: one in five seconds for each name, and 20 per second
 * in total. Otherwise clients could overload the API server with made-up keys.
 */
export class NegativeCache {
  readonly #entries = new Map<string, Entry>()
  #second = 0
  #requests = 0

  /**
   * Calls `request`, or returns nothing if a request for the same name found nothing in the last five seconds. Returns undefined when the
   * limit per second is reached.
   * @param nowMilliseconds from a monotonic clock
   */
  ask<T>(name: string, nowMilliseconds: number, request: () => Promise<T>): Promise<T | undefined> {
    const last = this.#entries.get(name)
    if (last !== undefined && nowMilliseconds - last.at < TTL_MILLISECONDS) return last.response as Promise<T>
    if (!this.#isBelowLimit(nowMilliseconds)) return Promise.resolve(undefined)
    if (this.#entries.size >= MAX_ENTRIES) this.#entries.clear()
    const response = request()
    this.#entries.set(name, { at: nowMilliseconds, response })
    // Found objects are in the informer cache from now on, where revocations arrive. A failed request does not prove that the object is missing.
    const forget = (): boolean => this.#entries.delete(name)
    response.then((found) => isNothing(found) || forget(), forget)
    return response
  }

  #isBelowLimit(nowMilliseconds: number): boolean {
    const second = Math.floor(nowMilliseconds / 1_000)
    if (second !== this.#second) this.#requests = 0
    this.#second = second
    return ++this.#requests <= REQUESTS_PER_SECOND
  }
}
