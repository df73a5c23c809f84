import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Screenshot, type ScreenshotRequest, type Tintype, TintypeError } from '../../../client/src/index.ts'
import { UsageError } from '../common/errors.ts'
import { capturesIn } from '../common/kinds.ts'
import { cut, type Output, toPrintable } from '../terminal/output.ts'
import { captureRecord, writeArtifacts, writeFileFrom } from './capture.ts'

/** Codes after which the same request succeeds later. The client has already repeated it several times. */
const BUSY = new Set(['RATE_LIMIT_EXCEEDED', 'QUEUE_FULL', 'TOO_MANY_DOWNLOADS'])
const DEFAULT_PAUSE_SECONDS = 10

export interface BatchWork {
  client: Tintype
  state: StateFile
  entries: readonly Entry[]
  /** Folder of the files. */
  folder: string
  /** Options of every capture. */
  options: ScreenshotRequest
  parallel: number
  waitTimeout: number | undefined
  signal: AbortSignal
  /** Called when an entry has ended, with its record if there is one. */
  onEnd: (entry: Entry, screenshot: Screenshot | undefined) => void
}

/** True if the error concerns one URL. All others would meet every URL. */
function concernsUrl(error: unknown): error is TintypeError {
  if (!(error instanceof TintypeError)) return false
  const { code, details } = error
  if (code === 'URL_NOT_ALLOWED' || code === 'WAIT_TIMEOUT' || code === 'FILE_NOT_AVAILABLE') return true
  return code === 'VALIDATION_ERROR' && Array.isArray(details) && details.length > 0 && details.every(({ path }) => path === 'url')
}

/** Waits as long as the service is busy. */
async function untilFree<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof TintypeError) || !BUSY.has(error.code)) throw error
      await sleep((error.retryAfterSeconds ?? DEFAULT_PAUSE_SECONDS) * 1_000, undefined, { signal }).catch(() => {
        throw signal.reason
      })
    }
  }
}

/** True if the picture of an entry is in its place. */
export const isDone = (folder: string, { status, file }: Entry): boolean => status === 'done' && existsSync(path.join(folder, file))

async function readOrCapture(entry: Entry, work: BatchWork, signal: AbortSignal): Promise<Screenshot> {
  const { client, state, options, waitTimeout } = work
  if (entry.id !== undefined && entry.status !== 'failed') {
    try {
      return await capturesIn(client, options.format).wait(entry.id, { waitTimeout, signal })
    } catch (error) {
      // The record was deleted since the last run, so the page is captured again.
      if (!(error instanceof TintypeError) || error.status !== 404) throw error
    }
  }
  if (entry.id !== undefined || entry.status === 'failed') entry.attempt += 1
  delete entry.id
  delete entry.status
  delete entry.error
  const onCreated = (id: string): void => {
    entry.id = id
    state.touch()
  }
  const request = { ...options, url: entry.url }
  return captureRecord({ client, request, idempotencyKey: state.keyOf(entry), waitTimeout, signal, onCreated })
}

async function captureEntry(entry: Entry, work: BatchWork, signal: AbortSignal): Promise<Screenshot | undefined> {
  const { client, folder } = work
  try {
    const screenshot = await untilFree(() => readOrCapture(entry, work, signal), signal)
    if (screenshot.status === 'failed') {
      entry.status = 'failed'
      entry.error = `${screenshot.error?.code ?? 'INTERNAL_ERROR'}: ${screenshot.error?.message ?? 'the capture failed'}`
      return screenshot
    }
    const stream = await untilFree(() => capturesIn(client, screenshot.format).streamOf(screenshot, { signal }), signal)
    const file = path.join(folder, entry.file)
    await writeFileFrom(stream, file, signal)
    await writeArtifacts({ client, screenshot, file, signal }, () => {})
    entry.status = 'done'
    return screenshot
  } catch (error) {
    if (!concernsUrl(error)) throw error
    // A capture that has not ended keeps its id, and the next run waits for it.
    if (error.code !== 'WAIT_TIMEOUT') entry.status = 'failed'
    entry.error = `${error.code}: ${error.message}`
    return undefined
  }
}

/** Captures the entries that are not done, several at a time. The first error that is not about one URL ends the batch. */
export async function runBatch(work: BatchWork): Promise<void> {
  const { entries, parallel, state, signal, onEnd } = work
  const open = entries.filter((entry) => !isDone(work.folder, entry))
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const worker = async (): Promise<void> => {
    for (let entry = open.shift(); entry !== undefined; entry = open.shift()) {
      controller.signal.throwIfAborted()
      const screenshot = await captureEntry(entry, work, controller.signal)
      state.touch()
      onEnd(entry, screenshot)
    }
  }
  const guarded = (): Promise<void> =>
    worker().catch((error: unknown) => {
      // The first reason is the one that the caller sees.
      controller.abort(error)
    })
  try {
    await Promise.all(Array.from({ length: parallel }, guarded))
    controller.signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', onAbort)
    state.save()
  }
}

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

const BAR_WIDTH = 24
/** Erases the line of the cursor. */
export const CLEAR = '\r\u{1b}[2K'

/** Shows how far a batch is: a bar on a terminal, a line for each URL elsewhere. */
export class Progress {
  readonly #output: Output
  readonly #total: number
  #ended: number
  #failed = 0

  constructor(output: Output, { total, done }: { total: number; done: number }) {
    this.#output = output
    this.#total = total
    this.#ended = done
    this.#draw('')
  }

  get failed(): number {
    return this.#failed
  }

  get completed(): number {
    return this.#ended - this.#failed
  }

  /** Counts an entry. `print` writes results, which must not share a line with the bar. */
  end({ url, status, error }: Entry, print: () => void): void {
    this.#ended += 1
    if (status !== 'done') this.#failed += 1
    if (this.#output.isTerminal) this.#output.write(CLEAR)
    print()
    const counter = `${String(this.#ended).padStart(String(this.#total).length)}/${this.#total}`
    if (status !== 'done') this.#output.write(`${counter} failed ${toPrintable(url)}: ${toPrintable(error ?? '')}\n`)
    else if (!this.#output.isTerminal) this.#output.write(`${counter} done   ${toPrintable(url)}\n`)
    this.#draw(url)
  }

  /** Removes the bar. */
  stop(): void {
    if (this.#output.isTerminal) this.#output.write(CLEAR)
  }

  #draw(url: string): void {
    if (!this.#output.isTerminal) return
    const filled = Math.round((BAR_WIDTH * this.#ended) / this.#total)
    const bar = `[${'='.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}]`
    const failed = this.#failed === 0 ? '' : ` ${this.#failed} failed`
    this.#output.write(CLEAR + cut(`${bar} ${this.#ended}/${this.#total}${failed} ${toPrintable(url)}`, this.#output.columns - 1))
  }
}
