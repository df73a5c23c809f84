import { readFile } from 'node:fs/promises'
import type { Log } from '@tintype/crds/client/log'
import type { z } from 'zod'
import { unavailable } from '../errors.ts'

const LOOK_MILLISECONDS = 2_000

interface MountedJsonOptions<T> {
  path: string
  schema: z.ZodType<T>
  /** For the log: `download keys`. */
  what: string
  /** What a client is told before the first good read. */
  absence: string
  log: Log
}

/**
 * A JSON file from a mounted Secret. Looked at every two seconds: the kubelet swaps the file when the Secret changes, and file events
 * across that swap are not reliable.
 */
export class MountedJson<T> {
  readonly #options: MountedJsonOptions<T>
  #text = ''
  #value: T | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: MountedJsonOptions<T>) {
    this.#options = options
  }

  /** Reads it now and keeps looking. A file that is not there yet, or not right, leaves what was known. */
  async start(): Promise<void> {
    await this.#look()
    this.#timer = setInterval(() => void this.#look(), LOOK_MILLISECONDS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  get isLoaded(): boolean {
    return this.#value !== undefined
  }

  /** @throws ApiError SERVICE_UNAVAILABLE before the first good read */
  readonly current = (): T => {
    if (this.#value === undefined) throw unavailable(this.#options.absence)
    return this.#value
  }

  async #look(): Promise<void> {
    const { path, schema, what, log } = this.#options
    try {
      const text = await readFile(path, 'utf8')
      if (text === this.#text) return
      this.#value = schema.parse(JSON.parse(text))
      this.#text = text
      log.info({ what }, 'keys read')
    } catch (error) {
      // The message of a parse error may quote the file, which is secret.
      log.warn({ what, code: (error as { code?: string }).code ?? 'malformed' }, 'keys cannot be read')
    }
  }
}
