import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Screenshot, type ScreenshotRequest, type Tintype, TintypeError } from '../../../client/src/index.ts'
import { capturesIn } from '../common/kinds.ts'
import { captureRecord, writeArtifacts, writeFileFrom } from './capture.ts'
import type { Entry, StateFile } from './state-file.ts'

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
