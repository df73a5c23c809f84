import type { Readable } from 'node:stream'
import { ApiError } from '../../common/errors.ts'

const RETRY_SECONDS = '5'

/** Limits concurrent downloads, so that slow clients cannot use up memory and connections. */
export class Downloads {
  readonly #max: number
  #active = 0

  constructor(max: number) {
    this.#max = max
  }

  get active(): number {
    return this.#active
  }

  /**
   * Opens a stream and counts it until it is closed.
   * @throws ApiError TOO_MANY_DOWNLOADS
   */
  async open(open: () => Promise<Readable>): Promise<Readable> {
    if (this.#active >= this.#max) {
      throw new ApiError('TOO_MANY_DOWNLOADS', 'too many files are being downloaded: retry in 5 seconds', {
        headers: { 'retry-after': RETRY_SECONDS },
      })
    }
    this.#active++
    try {
      const stream = await open()
      stream.once('close', () => this.#active--)
      return stream
    } catch (error) {
      this.#active--
      throw error
    }
  }
}
