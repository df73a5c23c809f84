import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from '../common/errors.ts'

// A batch can be interrupted at any time, also by a power failure. The Idempotency-Key of each URL follows from the id of the batch, which is on
// disk before the first request. So a repeated command sends the same keys, and the service neither captures nor charges twice, even if the last
// progress was not saved.

export const STATE_FILE = '.tintype-batch.json'

/** The file is written at most this often, because a batch may have thousands of URLs. */
const SAVE_MILLISECONDS = 500

export interface Entry {
  url: string
  /** Name of the file in the folder. */
  file: string
  /** Number of the capture of this URL. A failed one is followed by another with a new Idempotency-Key. */
  attempt: number
  /** Id of the screenshot, once it was created. */
  id?: string
  status?: 'done' | 'failed'
  error?: string
}

interface Stored {
  version: 1
  /** Random part of the Idempotency-Keys. */
  id: string
  /** Hash of the service and the options. The options may be secret, so the file does not contain them. */
  fingerprint: string
  entries: Entry[]
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Hash of what makes a batch another one. */
export const toFingerprint = (...parts: readonly unknown[]): string => hash(JSON.stringify(parts))

function read(file: string): Stored | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const stored = JSON.parse(text) as Stored
    if (stored.version === 1 && Array.isArray(stored.entries)) return stored
  } catch {
    // Reported below.
  }
  throw new UsageError(`${file} is damaged or belongs to another version. Add --restart to capture all URLs again.`)
}

export interface OpenOptions {
  folder: string
  fingerprint: string
  /** Forgets the progress of an earlier command. */
  restart: boolean
}

/** The progress of a batch, in a file beside its pictures. */
export class StateFile {
  readonly #file: string
  readonly #stored: Stored
  readonly #byUrl: Map<string, Entry>
  /** Names of files in lower case. */
  readonly #taken: Set<string>
  #timer: NodeJS.Timeout | undefined

  private constructor(file: string, stored: Stored) {
    this.#file = file
    this.#stored = stored
    this.#byUrl = new Map(stored.entries.map((entry) => [entry.url, entry]))
    this.#taken = new Set(stored.entries.map(({ file: name }) => name.toLowerCase()))
  }

  /** Continues the batch of the folder, or begins one. */
  static open({ folder, fingerprint, restart }: OpenOptions): StateFile {
    const file = path.join(folder, STATE_FILE)
    const found = restart ? undefined : read(file)
    if (found !== undefined && found.fingerprint !== fingerprint) {
      throw new UsageError(
        `${file} belongs to a batch with other options or another service. Repeat that command, choose another folder with -o, or add --restart.`,
      )
    }
    const state = new StateFile(file, found ?? { version: 1, id: randomBytes(12).toString('hex'), fingerprint, entries: [] })
    state.save()
    return state
  }

  get entries(): readonly Entry[] {
    return this.#stored.entries
  }

  /** The entry of a URL. A new URL gets the name that `toName` returns. */
  entryOf(url: string, toName: (taken: ReadonlySet<string>) => string): Entry {
    const found = this.#byUrl.get(url)
    if (found !== undefined) return found
    const entry: Entry = { url, file: toName(this.#taken), attempt: 1 }
    this.#taken.add(entry.file.toLowerCase())
    this.#stored.entries.push(entry)
    this.#byUrl.set(url, entry)
    return entry
  }

  /** The Idempotency-Key of the current attempt. */
  keyOf({ url, attempt }: Entry): string {
    return `batch-${this.#stored.id}-${hash(url).slice(0, 32)}-${attempt}`
  }

  /** Saves soon. */
  touch(): void {
    this.#timer ??= setTimeout(() => this.save(), SAVE_MILLISECONDS)
  }

  /** Saves now. A reader sees the old or the new file, never a part. */
  save(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const temporary = `${this.#file}.tmp`
    writeFileSync(temporary, `${JSON.stringify(this.#stored, undefined, 1)}\n`, { mode: 0o600 })
    renameSync(temporary, this.#file)
  }

  /** Deletes the file after the last capture, so that the same command captures everything anew. */
  remove(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    rmSync(this.#file, { force: true })
  }
}
