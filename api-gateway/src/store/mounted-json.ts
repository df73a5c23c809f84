import { readFile } from 'node:fs/promises'
import type { Log } from '@tintype/crds/client/log'
import type { z } from 'zod'
import { unavailable } from '../common/errors.ts'

const POLL_MILLISECONDS = 2_000

interface MountedJsonOptions<T> {
  path: string
  schema: z.ZodType<T>
  /** Name for log lines, such as `download keys`. */
  what: string
  /** Error message before the first successful read. */
  notLoadedMessage: string
  log: Log
}

/**
 * A JSON file from a mounted Secret. It is read every two seconds, because file events are not reliable when the kubelet replaces the file.
 */
export class MountedJson<T> {
  readonly #options: MountedJsonOptions<T>
  #text = ''
  #value: T | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: MountedJsonOptions<T>) {
    this.#options = options
  }

  /** Reads the file now and then periodically. A missing or invalid file leaves the last value unchanged. */
  async start(): Promise<void> {
    await this.#poll()
    this.#timer = setInterval(() => void this.#poll(), POLL_MILLISECONDS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  get isLoaded(): boolean {
    return this.#value !== undefined
  }

  /** @throws ApiError SERVICE_UNAVAILABLE before the first successful read */
  readonly current = (): T => {
    if (this.#value === undefined) throw unavailable(this.#options.notLoadedMessage)
    return this.#value
  }

  async #poll(): Promise<void> {
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
