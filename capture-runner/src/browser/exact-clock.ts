import { awaitResponse, pause } from '../runtime/race.ts'
import type { DevTools } from './devtools.ts'
import type { Tab } from './tab.ts'

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
