const REMEMBER_MILLISECONDS = 5_000
const MAX_REMEMBERED = 10_000
const ASKS_PER_SECOND = 20

interface Miss {
  at: number
  answer: Promise<unknown>
}

const isNothing = (found: unknown): boolean => found === undefined || (Array.isArray(found) && found.length === 0)

/**
 * Asks the API server for what the copy does not have: once in five seconds for one name, twenty times a second in all, so that
 * made-up keys cannot turn into load there.
 */
export class Misses {
  readonly #misses = new Map<string, Miss>()
  #second = 0
  #asked = 0

  /**
   * The answer to `request`, or nothing if the one of the last five seconds for the same name found nothing; undefined when there is no room for another.
   * @param nowMilliseconds of a clock that never goes back
   */
  ask<T>(name: string, nowMilliseconds: number, request: () => Promise<T>): Promise<T | undefined> {
    const last = this.#misses.get(name)
    if (last !== undefined && nowMilliseconds - last.at < REMEMBER_MILLISECONDS) return last.answer as Promise<T>
    if (!this.#hasRoom(nowMilliseconds)) return Promise.resolve(undefined)
    if (this.#misses.size >= MAX_REMEMBERED) this.#misses.clear()
    const answer = request()
    this.#misses.set(name, { at: nowMilliseconds, answer })
    // What was found is in the copy from now on, and must be out of here when it is revoked; what was not answered is not known to be missing.
    const forget = (): boolean => this.#misses.delete(name)
    answer.then((found) => isNothing(found) || forget(), forget)
    return answer
  }

  #hasRoom(nowMilliseconds: number): boolean {
    const second = Math.floor(nowMilliseconds / 1_000)
    if (second !== this.#second) this.#asked = 0
    this.#second = second
    return ++this.#asked <= ASKS_PER_SECOND
  }
}
