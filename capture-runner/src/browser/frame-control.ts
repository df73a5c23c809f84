import { setTimeout as sleep } from 'node:timers/promises'
import type { ContextPlan } from '../plan/context.ts'
import { FrameHungError } from '../runtime/errors.ts'
import { abortable, awaitResponse, isWithin } from '../runtime/race.ts'
import { type DevTools, readMetric } from './devtools.ts'
import type { Lifecycle } from './lifecycle.ts'

// A tab with frame control draws a frame only on command (HeadlessExperimental.beginFrame of chromium-headless-shell). So the runner decides the time
// of each frame. Everything that waits for a frame, such as a click or a screenshot, hangs while nobody begins one. So frames begin by themselves, on
// the real clock, until a recording or the wait for visual stability starts.

/** Milliseconds between two frames on the real clock. */
const INTERVAL_MILLISECONDS = 16
/** Few of the frames of a page that is not pictured yet are worth drawing: each of so many. The others run its frame callbacks and animations. */
export const DRAWN_EVERY = 4
/** How long a frame may take until the scripts of its page are ended, and after that until the browser counts as hung. */
const FRAME_MILLISECONDS = 3_000
/** The same while the page works on the frame. A busy machine may let it work for a small part of this time. */
const WORKING_MILLISECONDS = 8_000
/** Processor time for which a page may work on a frame. */
const WORKING_SECONDS = 3
/** Milliseconds between two checks whether it still works, and its processor time between them that counts as work. A check takes less. */
const CHECK_MILLISECONDS = 500
const CHECK_SECONDS = 0.02

/** What a tab tells about its main frame. */
export type FramedDocument = Pick<Lifecycle, 'document' | 'isNavigating'>

/** The time of one frame, as `frameTimeTicks` and `interval` of DevTools: milliseconds of the browser's monotonic clock. */
export interface FrameTime {
  ticks: number
  interval: number
}

/** How a frame is drawn. */
export interface FramePicture {
  format: 'png' | 'jpeg' | 'webp'
  /** 0 to 100. */
  quality?: number
  optimizeForSpeed?: boolean
}

/** What a frame does. */
export interface FrameWish {
  /** Absent: now. */
  time?: FrameTime
  /** Absent: no picture. */
  picture?: FramePicture
  /** Runs frame callbacks and animations, but draws nothing. */
  isUndrawn?: boolean
}

/** What came of a frame. */
export interface DrawnFrame {
  /** The frame differs from the one before. Always false if it was not drawn. */
  hasDamage: boolean
  /** Absent: none was asked for, or the frame had none. */
  picture?: Buffer
}

/** Parameters of `Target.createTarget` for a plan. The size is in device pixels, and cannot be changed later. Only videos need it. */
export const toFrameTarget = ({ frameControl, viewport: { width, height }, deviceScaleFactor: scale }: ContextPlan) => ({
  ...(frameControl ? { enableBeginFrameControl: true } : {}),
  ...(frameControl === 'video' ? { width: Math.round(width * scale), height: Math.round(height * scale) } : {}),
})

/** Lets one tab of a browser draw at a time. If frames of two tabs overlap, neither ends. */
export class FrameLock {
  /** A frame never ended, so no tab of this browser can draw. */
  isHung = false
  #last: Promise<void> = Promise.resolve()

  /** Waits until no other tab draws. Returns what releases the lock. @throws the signal's reason */
  async acquire(signal: AbortSignal): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#last
    this.#last = before.then(() => promise)
    try {
      await abortable(before, signal)
    } catch (error) {
      resolve()
      throw error
    }
    return resolve
  }
}

const toDrawnFrame = ({ hasDamage, screenshotData }: { hasDamage: boolean; screenshotData?: string | undefined }): DrawnFrame => ({
  hasDamage,
  ...(screenshotData === undefined ? {} : { picture: Buffer.from(screenshotData, 'base64') }),
})

/** Begins the frames of one tab. Frames never overlap. */
export class FrameControl {
  readonly #session: DevTools
  readonly #gone: AbortSignal
  readonly #lock: FrameLock
  readonly #onHung: () => void
  /** A script of the page was ended because it delayed a frame. */
  hasEndedScripts = false
  /** Ends the tab if a frame that begins by itself does not end, and draws few of them. */
  isWatched = false
  #lifecycle: FramedDocument | undefined
  /** The document that was drawn last; false: none. */
  #drawn: string | undefined | false = false
  /** Releases the lock; absent: each frame acquires it. */
  #release: (() => void) | undefined
  #running: { stop: AbortController; ended: Promise<void> } | undefined

  /** @param gone aborts when the tab ends @param lock of the browser @param onHung ends the tab */
  constructor(session: DevTools, gone: AbortSignal, lock: FrameLock, onHung: () => void) {
    this.#session = session
    this.#gone = gone
    this.#lock = lock
    this.#onHung = onHung
    gone.addEventListener('abort', () => this.release(), { once: true })
  }

  /** Follows the documents of the tab. A frame that is under way while one replaces another may keep the browser from ever drawing the new one. */
  follow(lifecycle: FramedDocument): void {
    this.#lifecycle = lifecycle
  }

  /** A document is about to replace the current one, so that no frame should begin. */
  get isNavigating(): boolean {
    return this.#lifecycle?.isNavigating ?? false
  }

  /** The browser has drawn the current document. */
  get hasDrawn(): boolean {
    return this.#drawn === this.#lifecycle?.document
  }

  /** A frame of the browser never ended. */
  get isHung(): boolean {
    return this.#lock.isHung
  }

  /** Begins frames on the real clock until {@link stop}, but none while the tab navigates. */
  start(): void {
    if (this.#running) return
    const stop = new AbortController()
    this.#running = { stop, ended: this.#run(AbortSignal.any([stop.signal, this.#gone])) }
  }

  /** Begins no more frames by itself. Resolves when the last one has ended, which a hung page may never reach. @throws the signal's reason */
  async stop(signal: AbortSignal): Promise<void> {
    await awaitResponse(this.#cease(), signal)
  }

  /** The same, but ends scripts that delay the last frame. @throws the signal's reason; FrameHungError if it does not end even then */
  async end(signal: AbortSignal): Promise<void> {
    await this.#watch(this.#cease(), signal)
  }

  async #cease(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    running?.stop.abort(new Error('frames no longer begin by themselves'))
    await running?.ended
  }

  /** Begins no more frames by itself, without a wait. */
  cancel(): void {
    this.#running?.stop.abort(new Error('the tab closes'))
  }

  /** Keeps other tabs of the browser from drawing until {@link release}. @throws the signal's reason */
  async hold(signal: AbortSignal): Promise<void> {
    this.#release ??= await this.#lock.acquire(AbortSignal.any([signal, this.#gone]))
  }

  release(): void {
    this.#release?.()
    this.#release = undefined
  }

  /** Begins a frame. @throws the signal's reason */
  async begin(wish: FrameWish, signal: AbortSignal): Promise<DrawnFrame> {
    const { frame } = await this.#send(wish, signal)
    return toDrawnFrame(await abortable(frame, signal))
  }

  /** The same, but ends scripts that delay the frame. @throws the signal's reason; FrameHungError if it does not end even then */
  async beginWatched(wish: FrameWish, signal: AbortSignal): Promise<DrawnFrame> {
    const { frame } = await this.#send(wish, signal)
    return toDrawnFrame(await this.#watch(frame, signal))
  }

  /** Ends the running script of the page. */
  endScripts(): void {
    this.hasEndedScripts = true
    this.#session.send('Runtime.terminateExecution').catch(() => {})
  }

  async #watch<T>(frame: Promise<T>, signal: AbortSignal): Promise<T> {
    if (await isWithin(CHECK_MILLISECONDS, frame, signal)) return frame
    const began = performance.now() - CHECK_MILLISECONDS
    const first = await this.#threadSeconds()
    for (let last = first; ; ) {
      if (await isWithin(CHECK_MILLISECONDS, frame, signal)) return frame
      const worked = await this.#threadSeconds()
      const taken = performance.now() - began
      const isWorking = worked - last >= CHECK_SECONDS && worked - first < WORKING_SECONDS && taken < WORKING_MILLISECONDS
      if (taken >= FRAME_MILLISECONDS && !isWorking) break
      last = worked
    }
    this.endScripts()
    if (await isWithin(CHECK_MILLISECONDS, frame, signal)) return frame
    // One script after the other.
    this.#session.send('Emulation.setScriptExecutionDisabled', { value: true }).catch(() => {})
    if (await isWithin(FRAME_MILLISECONDS - CHECK_MILLISECONDS, frame, signal)) return frame
    throw this.hang()
  }

  /** A page may work as long as it likes while it loads. */
  async #watchReal(frame: Promise<unknown>, stopped: AbortSignal): Promise<void> {
    const began = performance.now()
    for (let last = 0; !(await isWithin(CHECK_MILLISECONDS, frame, this.#gone)); ) {
      // The caller that stops the frames watches the last one.
      if (stopped.aborted) return void (await frame)
      const worked = performance.now() - began < FRAME_MILLISECONDS ? 0 : await this.#threadSeconds()
      const isWorking = worked - last >= CHECK_SECONDS
      last = worked
      if (!isWorking && performance.now() - began > 2 * FRAME_MILLISECONDS) throw this.hang()
    }
  }

  /** Ends the tab, because the browser does not draw it. Returns the error to throw. */
  hang(): FrameHungError {
    this.#lock.isHung = true
    this.#onHung()
    return new FrameHungError()
  }

  /** Processor time of the page's main thread; 0 if the browser does not answer. */
  async #threadSeconds(): Promise<number> {
    const asked = readMetric(this.#session, 'ThreadTime').then(
      (seconds = 0) => seconds,
      () => 0,
    )
    return Promise.race([asked, sleep(CHECK_MILLISECONDS, 0)])
  }

  /** Begins a frame when no other tab draws. The next one must wait for its end, even if its own caller gives up. */
  async #send({ time, picture, isUndrawn }: FrameWish, signal: AbortSignal) {
    const release = this.#release ? () => {} : await this.#lock.acquire(AbortSignal.any([signal, this.#gone]))
    const frame = abortable(
      this.#session.send('HeadlessExperimental.beginFrame', {
        ...(time ? { frameTimeTicks: time.ticks, interval: time.interval } : {}),
        ...(isUndrawn ? { noDisplayUpdates: true } : {}),
        ...(picture ? { screenshot: picture } : {}),
      }),
      this.#gone,
    )
    const { document } = this.#lifecycle ?? {}
    const note = ({ hasDamage, screenshotData }: { hasDamage: boolean; screenshotData?: string | undefined }): void => {
      if (hasDamage || screenshotData !== undefined) this.#drawn = document
    }
    frame.then(note, () => {}).then(release)
    return { frame }
  }

  async #run(stopped: AbortSignal): Promise<void> {
    for (let number = 0; !stopped.aborted; number++) {
      const began = performance.now()
      // A frame fails while the tab navigates to another process. The next one succeeds.
      if (!this.isNavigating)
        await this.#send({ isUndrawn: this.isWatched && number % DRAWN_EVERY !== 0 }, stopped)
          .then(({ frame }) => (this.isWatched ? this.#watchReal(frame, stopped) : frame.then(() => {})))
          .catch(() => {})
      await sleep(Math.max(1, INTERVAL_MILLISECONDS - (performance.now() - began)), undefined, { signal: stopped }).catch(() => {})
    }
  }
}
