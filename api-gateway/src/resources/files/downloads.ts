import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { ApiError } from '../../common/errors.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { Turns } from '../../store/turns.ts'
import { Progress } from './progress.ts'
import { type Holder, type RefusalReason, type RunningDownload, Shares } from './shares.ts'

const RETRY_SECONDS = '5'
const SAMPLE_MILLISECONDS = 1_000
/** Time for which a download waits for a slot before it ends one of a larger share. Fast downloads end within it. */
const WAIT_MILLISECONDS = 500
/** A download of a larger share that has not moved for this time ends at once. */
const IDLE_MILLISECONDS = 5_000
/** A response from memory takes a slot if it has not been sent within this time. */
const MEMORY_MILLISECONDS = 1_000
/** Downloads without progress end after this time, also while slots are free. docs/operations.md names it. */
const STALLED_MILLISECONDS = 60_000

const REASONS: Readonly<Record<RefusalReason, string>> = {
  account: 'the account has its share of them',
  file: 'this file has its share of them',
  replica: 'all of them are in use',
}

/** Parts of files that the gateway reads from the store at the same time. A few use all of a processor. With hundreds, every request of every account waits for them. */
const MAX_PARTS = 8

/** Why the gateway ends a download: no progress, below the minimum rate, or for a download with a smaller share. */
type EndReason = 'stalled' | 'slow' | 'share'

interface Download extends RunningDownload {
  response: ServerResponse
  progress: Progress
  startedAt: number
  hasSlot: boolean
}

interface Waiter extends Holder {
  /** Called when a slot was taken for it. */
  grant: () => void
}

export interface DownloadsOptions {
  /** Number of slots. */
  max: number
  metrics: Pick<Metrics, 'downloadsRefused' | 'downloadsEnded'>
  /** Milliseconds of a clock that never jumps. */
  now: () => number
  waitMilliseconds?: number
}

/**
 * Limits concurrent downloads, so that slow clients cannot use up memory and connections. While slots are free, only downloads without any progress
 * end. When they run short, accounts and files have equal shares, and slow downloads end first (ADR 57).
 */
export class Downloads {
  readonly #options: Required<DownloadsOptions>
  readonly #downloads = new Set<Download>()
  /** Open connections, and the progress of those with unsent bytes. */
  readonly #connections = new Map<Socket, Progress | undefined>()
  readonly #waiting = new Set<Waiter>()
  readonly #turns = new Turns(MAX_PARTS)
  #active = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: DownloadsOptions) {
    this.#options = { waitMilliseconds: WAIT_MILLISECONDS, ...options }
  }

  /** Slots in use. */
  get active(): number {
    return this.#active
  }

  /**
   * Takes a slot and opens a stream. The slot is free again when the response is closed.
   * @param open takes a turn for each part that it requests
   * @throws ApiError TOO_MANY_DOWNLOADS
   */
  async open(holder: Holder, response: ServerResponse, open: (turns: Turns) => Promise<Readable>): Promise<Readable> {
    await this.#takeSlot(holder)
    const download = this.#add(holder, response, true)
    try {
      return await open(this.#turns)
    } catch (error) {
      this.#release(download)
      throw error
    }
  }

  /** Watches a response from memory. It starts at once, and takes a slot only if its client is slow. */
  watch(holder: Holder, response: ServerResponse): void {
    this.#add(holder, response, false)
  }

  /** Ends a connection whose client reads nothing of a response, such as a page of the console. It takes no slot. */
  watchConnection(socket: Socket): void {
    this.#connections.set(socket, undefined)
    socket.once('close', () => this.#connections.delete(socket))
    this.#start()
  }

  #add(holder: Holder, response: ServerResponse, hasSlot: boolean): Download {
    const startedAt = this.#options.now()
    const download = { ...holder, response, startedAt, hasSlot, progress: new Progress(startedAt, sentBytesOf(response.socket) ?? 0) }
    this.#downloads.add(download)
    response.once('close', () => this.#release(download))
    this.#start()
    return download
  }

  #start(): void {
    this.#timer ??= setInterval(() => this.sample(), SAMPLE_MILLISECONDS).unref()
  }

  /** Takes a sample of each download and of each connection with unsent bytes, and ends those without progress. Called each second. */
  sample(): void {
    const now = this.#options.now()
    for (const download of this.#downloads) {
      const { progress, response, startedAt } = download
      progress.add(now, sentBytesOf(response.socket))
      // The client may have left before its response started, and then the response is not closed.
      if (response.destroyed || response.req.socket.destroyed) this.#release(download)
      else if (progress.idleMilliseconds >= STALLED_MILLISECONDS) this.#end(download, 'stalled')
      else if (!download.hasSlot && now - startedAt >= MEMORY_MILLISECONDS) {
        download.hasSlot = true
        this.#active++
      }
    }
    for (const [socket, progress] of this.#connections) this.#sampleConnection(socket, progress, now)
    // Responses from memory are not refused, so they can exceed the number of slots.
    const excess = this.#active - this.#options.max
    if (excess > 0) for (const download of this.#shares().slow.slice(0, excess)) this.#end(download, 'slow')
  }

  #sampleConnection(socket: Socket, progress: Progress | undefined, now: number): void {
    const isUnsent = socket.writableLength > 0 && !socket.destroyed
    if (!isUnsent || !progress) {
      const next = isUnsent ? new Progress(now, sentBytesOf(socket) ?? 0) : undefined
      if (next !== progress) this.#connections.set(socket, next)
      return
    }
    progress.add(now, sentBytesOf(socket))
    if (progress.idleMilliseconds < STALLED_MILLISECONDS) return
    this.#options.metrics.downloadsEnded.inc({ reason: 'stalled' })
    socket.destroy()
  }

  async #takeSlot(wanted: Holder): Promise<void> {
    if (this.#active < this.#options.max) return void this.#active++
    const shares = this.#shares()
    const slow = shares.findSlow(wanted)
    if (slow) return this.#takeSlotOf(slow, 'slow')
    const first = shares.findLargest(wanted)
    if (!first) throw this.#refuse(shares.reasonFor(wanted))
    if (first.progress.idleMilliseconds >= IDLE_MILLISECONDS) return this.#takeSlotOf(first, 'share')
    if (await this.#waitForSlot(wanted)) return
    const later = this.#shares()
    const largest = later.findLargest(wanted)
    if (!largest) throw this.#refuse(later.reasonFor(wanted))
    this.#takeSlotOf(largest, 'share')
  }

  #shares(): Shares<Download> {
    return new Shares(
      [...this.#downloads].filter(({ hasSlot }) => hasSlot),
      [...this.#waiting],
    )
  }

  #takeSlotOf(download: Download, reason: EndReason): void {
    // First, so that no waiting download gets the slot.
    this.#active++
    this.#end(download, reason)
  }

  /** Resolves to false if no slot has become free in time. */
  #waitForSlot(wanted: Holder): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter = {
        ...wanted,
        grant: () => {
          clearTimeout(timer)
          resolve(true)
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter)
        resolve(false)
      }, this.#options.waitMilliseconds)
      this.#waiting.add(waiter)
    })
  }

  #refuse(reason: RefusalReason): ApiError {
    this.#options.metrics.downloadsRefused.inc({ reason })
    const message = `this replica sends at most ${this.#options.max} files at the same time, and ${REASONS[reason]}. Retry in ${RETRY_SECONDS} seconds.`
    return new ApiError('TOO_MANY_DOWNLOADS', message, { headers: { 'retry-after': RETRY_SECONDS } })
  }

  /** Closes the connection, because the response has started. */
  #end(download: Download, reason: EndReason): void {
    this.#options.metrics.downloadsEnded.inc({ reason })
    this.#release(download)
    download.response.destroy()
    download.response.req.socket.destroy()
  }

  #release(download: Download): void {
    if (!this.#downloads.delete(download)) return
    if (download.hasSlot) this.#active--
    for (const waiter of this.#waiting) {
      if (this.#active >= this.#options.max) break
      this.#waiting.delete(waiter)
      this.#active++
      waiter.grant()
    }
    if (this.#downloads.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

interface Handle {
  bytesWritten: number
  writeQueueSize: number
}

/**
 * Bytes of a connection that the kernel has accepted. The public `bytesWritten` also counts bytes that wait in the process. Undefined before the
 * response has its connection, which earlier responses may still use.
 */
function sentBytesOf(socket: Socket | null): number | undefined {
  const handle = (socket as { _handle?: Handle | null } | null)?._handle
  return handle ? handle.bytesWritten - handle.writeQueueSize : undefined
}
