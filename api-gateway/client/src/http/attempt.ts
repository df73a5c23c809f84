import { TintypeError } from '../common/errors.ts'

/**
 * Cancels one HTTP exchange when the caller's signal fires, or when the network makes no progress for `timeout` milliseconds. AbortSignal.any is not
 * used: Node.js 20 keeps its result for as long as a long-lived signal exists.
 */
export class Attempt {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #timeout: number
  readonly #onAbort = (): void => this.#controller.abort(this.#caller?.reason)
  #timer: ReturnType<typeof setTimeout> | undefined
  #isTimedOut = false

  constructor(timeout: number, caller: AbortSignal | undefined) {
    this.#timeout = timeout
    this.#caller = caller
    if (caller?.aborted) this.#onAbort()
    caller?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Waits for the network, no longer than the timeout plus `extra` milliseconds. */
  async expect<T>(work: () => Promise<T>, extra = 0): Promise<T> {
    this.#timer = setTimeout(() => {
      this.#isTimedOut = true
      this.#controller.abort()
    }, this.#timeout + extra)
    try {
      return await work()
    } catch (error) {
      throw this.#toError(error)
    } finally {
      clearTimeout(this.#timer)
    }
  }

  /** Stops listening to the caller's signal. */
  release(): void {
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }

  #toError(error: unknown): unknown {
    if (this.#caller?.aborted) return this.#caller.reason
    if (error instanceof TintypeError) return error
    if (this.#isTimedOut) {
      return new TintypeError(`no response within ${this.#timeout / 1_000} seconds. Check the connection, or raise timeout.`, {
        code: 'REQUEST_TIMEOUT',
        cause: error,
      })
    }
    const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined }
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message
    return new TintypeError(`the connection failed: ${reason}. Check baseUrl and that the service is reachable.`, {
      code: 'CONNECTION_FAILED',
      cause: error,
    })
  }
}
