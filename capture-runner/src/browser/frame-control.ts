import { setTimeout as sleep } from 'node:timers/promises'
import type { ContextPlan } from '../plan/context.ts'
import { awaitResponse } from '../runtime/race.ts'
import type { DevTools } from './devtools.ts'

// A tab for videos draws a frame only on command (HeadlessExperimental.beginFrame of chromium-headless-shell). So a recording decides the time
// of each frame. Everything that waits for a frame, such as a click or a screenshot, hangs while nobody begins one. So frames begin by themselves, on
// the real clock, until the recording starts.

/** Milliseconds between two frames before the recording. */
const INTERVAL_MILLISECONDS = 16

/** The time of one frame, as `frameTimeTicks` and `interval` of DevTools: milliseconds of the browser's monotonic clock. */
export interface FrameTime {
  ticks: number
  interval: number
}

/** Parameters of `Target.createTarget` for a plan with frame control. The size is in device pixels, and cannot be changed later. */
export const toFrameTarget = ({ frameControl, viewport: { width, height }, deviceScaleFactor: scale }: ContextPlan) =>
  frameControl ? { width: Math.round(width * scale), height: Math.round(height * scale), enableBeginFrameControl: true } : {}

/** Begins the frames of one tab. Frames never overlap. */
export class FrameControl {
  readonly #session: DevTools
  readonly #gone: AbortSignal
  #running: { isOver: boolean; ended: Promise<void> } | undefined

  /** @param gone aborts when the tab ends */
  constructor(session: DevTools, gone: AbortSignal) {
    this.#session = session
    this.#gone = gone
  }

  /** Begins frames on the real clock until {@link stop}. */
  start(): void {
    if (this.#running) return
    const running = { isOver: false, ended: Promise.resolve() }
    running.ended = this.#run(running)
    this.#running = running
  }

  /** Begins no more frames by itself. Resolves when the last one has ended, which a hung page may never reach. @throws the signal's reason */
  async stop(signal: AbortSignal): Promise<void> {
    const running = this.#running
    if (!running) return
    this.#running = undefined
    running.isOver = true
    await awaitResponse(running.ended, signal)
  }

  /** Begins no more frames by itself, without a wait. */
  cancel(): void {
    if (this.#running) this.#running.isOver = true
  }

  /**
   * Draws one frame and returns it as JPEG; undefined if the frame had no picture.
   * @param time absent: now
   * @param quality 0 to 100
   * @throws the signal's reason
   */
  async draw(time: FrameTime | undefined, quality: number, signal: AbortSignal): Promise<Buffer | undefined> {
    const { screenshotData } = await awaitResponse(
      this.#session.send('HeadlessExperimental.beginFrame', {
        ...(time ? { frameTimeTicks: time.ticks, interval: time.interval } : {}),
        screenshot: { format: 'jpeg', quality, optimizeForSpeed: true },
      }),
      signal,
    )
    return screenshotData === undefined ? undefined : Buffer.from(screenshotData, 'base64')
  }

  async #run(running: { isOver: boolean }): Promise<void> {
    while (!running.isOver && !this.#gone.aborted) {
      const began = performance.now()
      // A frame fails while the tab navigates to another process. The next one succeeds.
      await this.#session.send('HeadlessExperimental.beginFrame', {}).catch(() => {})
      await sleep(Math.max(1, INTERVAL_MILLISECONDS - (performance.now() - began)))
    }
  }
}
