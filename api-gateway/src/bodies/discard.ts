import type { Readable } from 'node:stream'

/** Bytes that are discarded before a pause. */
export const TURN_BYTES = 1024 ** 2
/** Pause between two turns. */
export const TURN_MILLISECONDS = 20
/** Bytes that a stream reads from its connection at a time. */
const CHUNK_BYTES = 65_536

/**
 * Reads the rest of refused bodies and drops it, so that clients that send everything first can read the response, and can use the connection again.
 * The rate of all together is limited: the buffers of hundreds of bodies at full speed would need more memory than the process has.
 */
export class Discard {
  readonly #waiting: Readable[] = []
  #left = TURN_BYTES
  #timer: NodeJS.Timeout | undefined

  /** Discards what is left of a body. */
  add(body: Readable): void {
    body.on('data', ({ length }: Buffer) => {
      this.#left -= length
      if (this.#left <= 0) this.#wait(body)
    })
    body.on('error', () => {})
    if (this.#left > 0 && this.#waiting.length === 0) body.resume()
    else this.#wait(body)
  }

  #wait(body: Readable): void {
    body.pause()
    this.#waiting.push(body)
    this.#timer ??= setTimeout(() => this.#turn(), TURN_MILLISECONDS)
  }

  #turn(): void {
    this.#timer = undefined
    this.#left = TURN_BYTES
    for (const body of this.#waiting.splice(0, TURN_BYTES / CHUNK_BYTES)) body.resume()
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#turn(), TURN_MILLISECONDS)
  }
}
