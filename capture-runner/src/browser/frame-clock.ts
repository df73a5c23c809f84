import { awaitResponse, isWithin, pause } from '../runtime/race.ts'
import { type DevTools, readMetric } from './devtools.ts'
import { DRAWN_EVERY, type FrameControl, type FramePicture, type FrameWish } from './frame-control.ts'
import type { Tab } from './tab.ts'
import { TaskWatch } from './task-watch.ts'

// One clock for a tab with frame control: timers, frames, animations and drawing pass together (ADR 34). It stands still between two frames. It need not
// keep up with real time, because each frame gets its time from here.

/** Real time after which an advance ends, whatever page time has passed. */
const ADVANCE_MILLISECONDS = 1_000
/** Page time of a frame that only draws. */
const FRAME_MILLISECONDS = 16
/** Maximum page time between two frames of a leap. */
const LEAP_MILLISECONDS = 66
/** A frame that is not later than the one before never ends. */
const LATER_MILLISECONDS = 0.05
/** Real time after which the browser will never draw a page that it has not drawn yet. */
const UNDRAWN_MILLISECONDS = 3_000
/** Frames without a picture before the browser is asked for one in another way. */
const PICTURE_FRAMES = 3

type FramedTab = Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>

/** What an advance has done. */
export interface Advanced {
  /** Page time that has passed. */
  milliseconds: number
  /** The page looks different. Unknown if the frame was not drawn. */
  hasDamage: boolean
}

/** Advances the time of one page, and begins its frames. */
export class FrameClock {
  readonly #tab: FramedTab
  readonly #frames: FrameControl
  readonly #clock: ExactClock
  readonly #watch: TaskWatch
  /** Page time, and the time of the last frame, on the clock of frames. */
  #now: number
  #frame = 0
  /** An earlier advance has not ended, so the end of the next one may be its end. */
  #isUncertain = false
  readonly #realSpeed = new RealSpeed((milliseconds, signal) => this.#tick(milliseconds, signal))
  #ticks = 0

  private constructor(tab: FramedTab, frames: FrameControl, { clock, ticks }: { clock: ExactClock; ticks: number }, watch: TaskWatch) {
    this.#tab = tab
    this.#frames = frames
    this.#clock = clock
    this.#now = ticks
    this.#watch = watch
  }

  /**
   * Stops the time of a page, whose frames have followed real time.
   * @param onLongTask called when a task of the page does not end, with its session
   * @throws the signal's reason; FrameHungError
   */
  static async take(
    tab: FramedTab,
    frames: FrameControl,
    onLongTask: ((session: DevTools) => void) | undefined,
    signal: AbortSignal,
  ): Promise<FrameClock> {
    await frames.end(signal)
    const watch = new TaskWatch(tab, { onLongTask: onLongTask ?? (() => {}), onHung: () => void frames.hang() })
    const clock = new FrameClock(tab, frames, await ExactClock.stop(tab, signal), watch)
    watch.start(signal)
    return clock
  }

  /** Advances the time, runs what is due, and begins a frame. @throws the signal's reason; FrameHungError */
  async advance(milliseconds: number, isDrawn: boolean, signal: AbortSignal): Promise<Advanced> {
    const passed = await this.advanceTime(milliseconds, signal)
    return { milliseconds: passed, hasDamage: await this.beginFrame(milliseconds, isDrawn, signal) }
  }

  /** Advances the time, and runs timers that are due. Returns how much has passed. @throws the signal's reason */
  async advanceTime(milliseconds: number, signal: AbortSignal): Promise<number> {
    const before = this.#now
    const isOver = await isWithin(ADVANCE_MILLISECONDS, this.#clock.advance(milliseconds, false, signal), signal)
    this.#isUncertain ||= !isOver
    this.#now = this.#isUncertain ? Math.max(before, await this.#read(signal)) : before + milliseconds
    return this.#isUncertain ? this.#now - before : milliseconds
  }

  /**
   * Begins a frame, unless the page navigates.
   * @param interval time since the frame before
   * @returns whether the page looks different; unknown if the frame was not drawn
   * @throws the signal's reason; FrameHungError
   */
  async beginFrame(interval: number, isDrawn: boolean, signal: AbortSignal): Promise<boolean> {
    return !this.#frames.isNavigating && (await this.#begin({ isUndrawn: !isDrawn }, interval, signal)).hasDamage
  }

  /**
   * Advances the time by this much in short steps, without drawing, and ends early when the page begins to wait for a response.
   * @returns milliseconds of page time that have passed
   * @throws the signal's reason; FrameHungError
   */
  async leap(milliseconds: number, isWaiting: () => boolean, signal: AbortSignal): Promise<number> {
    let passed = 0
    do passed += (await this.advance(Math.min(LEAP_MILLISECONDS, milliseconds - passed), false, signal)).milliseconds
    while (passed < milliseconds && !isWaiting())
    return passed
  }

  /** Keeps the time running at real speed, for steps that do not advance it. Ends with the signal, or by {@link hold}. */
  keepRunning(signal: AbortSignal): void {
    this.#realSpeed.start(signal)
  }

  /** Stops the time, so that it can be advanced. */
  hold(): Promise<void> {
    return this.#realSpeed.stop()
  }

  /** The time stands still. */
  get isHeld(): boolean {
    return !this.#realSpeed.isRunning
  }

  /** Lets page time and real time pass together. @throws the signal's reason; FrameHungError */
  async pass(milliseconds: number, signal: AbortSignal): Promise<void> {
    const { isHeld } = this
    this.keepRunning(signal)
    await pause(milliseconds, signal)
    if (isHeld) await this.hold()
  }

  /** Begins frames until the browser has finished drawing. @throws the signal's reason; FrameHungError */
  async whileDrawing<T>(drawing: Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#realSpeed.isRunning) return drawing
    let isOver = false
    const end = () => {
      isOver = true
    }
    const ended = drawing.then(end, end)
    const began = performance.now()
    while (!isOver) {
      if (!this.#frames.hasDrawn && performance.now() - began > UNDRAWN_MILLISECONDS) throw this.#frames.hang()
      await this.#begin({}, FRAME_MILLISECONDS, signal)
      await isWithin(FRAME_MILLISECONDS, ended, signal)
    }
    return drawing
  }

  /** Draws the window as it is now; undefined if the browser had no picture. @throws the signal's reason; FrameHungError */
  async draw(picture: FramePicture, signal: AbortSignal): Promise<Buffer | undefined> {
    // A frame waits for a running task of the page only if the page has asked for a frame.
    await awaitResponse(this.#tab.session.send('Runtime.evaluate', { expression: '0' }), signal)
    for (let frames = 0; frames < PICTURE_FRAMES; frames++) {
      const drawn = await this.#begin({ picture }, FRAME_MILLISECONDS, signal)
      if (drawn.picture) return drawn.picture
    }
    return undefined
  }

  /** A script of the page took too long and was ended. */
  get hasEndedScripts(): boolean {
    return this.#frames.hasEndedScripts
  }

  /** Ends all work of this clock, without a wait for the page. */
  close(): void {
    this.#watch.stop()
    this.#realSpeed.cancel()
    this.#frames.release()
  }

  /** A frame that follows real time. */
  #tick(milliseconds: number, signal: AbortSignal): Promise<Advanced> {
    return this.advance(milliseconds, this.#ticks++ % DRAWN_EVERY === 0, signal)
  }

  #begin(wish: FrameWish, interval: number, signal: AbortSignal) {
    this.#frame = Math.max(this.#now, this.#frame + LATER_MILLISECONDS)
    return this.#frames.beginWatched({ ...wish, time: { ticks: this.#frame, interval } }, signal)
  }

  /** Reads the page's clock. */
  async #read(signal: AbortSignal): Promise<number> {
    return ((await awaitResponse(readMetric(this.#tab.session, 'Timestamp'), signal)) ?? 0) * 1_000
  }
}

// The page's time while a video is recorded frame by frame. It stands still between two frames, however long a frame takes to draw. Timers, dates,
// frame callbacks and animations all follow it. Out-of-process frames have clocks of their own, which advance by the same steps.

/** Tasks that may run at one moment of page time. Without a limit, an endless chain of messages would stop the clock. */
const STARVATION = 10_000
/** How long to wait for the clock of an out-of-process frame, in real time. After that, the frame counts as hung and is not awaited again. */
const FOREIGN_MILLISECONDS = 2_000
/** Parts of a step, and the real time after each, in which the browser decodes sound. */
const SOUND_PARTS = 8
const SOUND_MILLISECONDS = 2

/** Advances the time of one page and its frames. */
export class ExactClock {
  readonly #tab: Pick<Tab, 'session' | 'foreignFrames'>
  readonly #page: SessionClock
  readonly #foreign = new Map<DevTools, SessionClock>()
  readonly #hung = new Set<DevTools>()

  private constructor(tab: Pick<Tab, 'session' | 'foreignFrames'>) {
    this.#tab = tab
    this.#page = new SessionClock(tab.session)
  }

  /** Stops the page's time. `ticks` is that moment on the clock of frames, in milliseconds. @throws the signal's reason */
  static async stop(tab: Pick<Tab, 'session' | 'foreignFrames'>, signal: AbortSignal): Promise<{ clock: ExactClock; ticks: number }> {
    const stopped = await awaitResponse(tab.session.send('Emulation.setVirtualTimePolicy', { policy: 'pause' }), signal)
    for (const frame of tab.foreignFrames()) frame.send('Emulation.setVirtualTimePolicy', { policy: 'pause' }).catch(() => {})
    return { clock: new ExactClock(tab), ticks: stopped.virtualTimeTicksBase }
  }

  /**
   * Advances the time, and runs everything that is due.
   * @param hasSound a playing video has a sound track, which is decoded on the real clock
   * @throws the signal's reason
   */
  async advance(milliseconds: number, hasSound: boolean, signal: AbortSignal): Promise<void> {
    if (!hasSound) return this.#step(milliseconds, signal)
    for (let part = 0; part < SOUND_PARTS; part++) {
      await this.#step(milliseconds / SOUND_PARTS, signal)
      await pause(SOUND_MILLISECONDS, signal)
    }
  }

  async #step(milliseconds: number, signal: AbortSignal): Promise<void> {
    const frames = this.#tab.foreignFrames().filter((frame) => !this.#hung.has(frame))
    await Promise.all([
      awaitResponse(this.#page.advance(milliseconds), signal),
      ...frames.map((frame) => this.#advanceForeign(frame, milliseconds, signal)),
    ])
  }

  async #advanceForeign(frame: DevTools, milliseconds: number, signal: AbortSignal): Promise<void> {
    const clock = this.#foreign.get(frame) ?? new SessionClock(frame)
    this.#foreign.set(frame, clock)
    let isOver = false
    // A frame that is removed meanwhile fails.
    const advanced = clock.advance(milliseconds).then(
      () => {
        isOver = true
      },
      () => {
        isOver = true
      },
    )
    const waited = new AbortController()
    const late = pause(FOREIGN_MILLISECONDS, AbortSignal.any([signal, waited.signal])).catch(() => {})
    await Promise.race([advanced, late])
    waited.abort()
    signal.throwIfAborted()
    if (!isOver) this.#hung.add(frame)
  }
}

/** The clock of one DevTools session. */
class SessionClock {
  readonly #session: DevTools
  #onExpired = () => {}

  constructor(session: DevTools) {
    this.#session = session
    session.on('Emulation.virtualTimeBudgetExpired', () => this.#onExpired())
  }

  /** Resolves when the time has passed. Never resolves for a page that hangs. */
  async advance(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onExpired = resolve
    await this.#session.send('Emulation.setVirtualTimePolicy', {
      policy: 'advance',
      budget: milliseconds,
      maxVirtualTimeTaskStarvationCount: STARVATION,
    })
    await promise
  }
}

/** Real time between two advances. */
const TICK_MILLISECONDS = 16
/** Maximum advance at once, so that a page that is slower than real time stays responsive. */
const MAX_TICK_MILLISECONDS = 100

/** Keeps a page's clock running at real speed, for steps that do not advance it. */
export class RealSpeed {
  readonly #advance: (milliseconds: number, signal: AbortSignal) => Promise<unknown>
  #running: { isOver: boolean; ended: Promise<void> } | undefined

  /** @param advance advances the clock at once */
  constructor(advance: (milliseconds: number, signal: AbortSignal) => Promise<unknown>) {
    this.#advance = advance
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Runs until the signal aborts, or until {@link stop} or {@link cancel}. */
  start(signal: AbortSignal): void {
    if (this.#running) return
    const running = { isOver: false, ended: Promise.resolve() }
    running.ended = this.#run(running, signal).catch(() => {})
    this.#running = running
  }

  /** Resolves when the last advance has ended. */
  async stop(): Promise<void> {
    const running = this.#running
    if (!running) return
    this.#running = undefined
    running.isOver = true
    await running.ended
  }

  /** Stops without a wait for the page. */
  cancel(): void {
    if (this.#running) this.#running.isOver = true
  }

  async #run(running: { isOver: boolean }, signal: AbortSignal): Promise<void> {
    let before = performance.now()
    do {
      await pause(TICK_MILLISECONDS, signal)
      const now = performance.now()
      await this.#advance(Math.min(now - before, MAX_TICK_MILLISECONDS), signal)
      before = now
    } while (!running.isOver)
  }
}
