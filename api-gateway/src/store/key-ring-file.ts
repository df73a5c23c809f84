import { readFile } from 'node:fs/promises'
import type { Log } from '@tintype/crds/client/log'
import { KeyRing } from '@tintype/crds/download-link'
import { unavailable } from '../errors.ts'

const LOOK_MILLISECONDS = 2_000

/**
 * The keys that sign download links, from a mounted Secret. Looked at every two seconds: the kubelet swaps the file when the Secret
 * changes, and file events across that swap are not reliable.
 */
export class KeyRingFile {
  readonly #path: string
  readonly #log: Log
  #text = ''
  #ring: KeyRing | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(path: string, log: Log) {
    this.#path = path
    this.#log = log
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
    return this.#ring !== undefined
  }

  /** @throws ApiError SERVICE_UNAVAILABLE before the first good read */
  readonly current = (): KeyRing => {
    if (!this.#ring) throw unavailable('download links cannot be signed yet')
    return this.#ring
  }

  async #look(): Promise<void> {
    try {
      const text = await readFile(this.#path, 'utf8')
      if (text === this.#text) return
      this.#ring = KeyRing.parse(JSON.parse(text))
      this.#text = text
      this.#log.info({ current: this.#ring.current }, 'download keys read')
    } catch (error) {
      // The message of a parse error may quote the file, which is secret.
      this.#log.warn({ code: (error as { code?: string }).code ?? 'malformed' }, 'the download keys cannot be read')
    }
  }
}
