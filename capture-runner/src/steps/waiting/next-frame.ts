import { callInPage, toCall } from '../../page/call.ts'
import { pause } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'
import { passTime } from './pass-time.ts'

/**
 * Waits for the next frame of the page, at most `milliseconds`. Uses no frame callback, which would count as a script of the page. The page's
 * scripts must be on and its clock must run, because promises need both.
 */
export async function nextFrame({ tab, signal }: Work, milliseconds: number): Promise<void> {
  // The document may be replaced meanwhile.
  const frame = tab.evaluate(toCall('nextFrame'), signal, true).catch(() => signal.throwIfAborted())
  await Promise.race([frame, pause(milliseconds, signal)])
}

/**
 * A requested frame of a page whose virtual clock is paused. Once it is drawn, the page's frame callbacks have run. Polls for it, because
 * promises of the page are not fulfilled while its clock is paused.
 */
export class AwaitedFrame {
  readonly #work: Work
  readonly #requested = performance.now()

  private constructor(work: Work) {
    this.#work = work
  }

  /** Requests a frame from the browser. */
  static async request(work: Work): Promise<AwaitedFrame> {
    const frame = new AwaitedFrame(work)
    await inDocument(work, undefined, () => callInPage(work, 'requestFrame'))
    return frame
  }

  /**
   * Waits until the frame is drawn, for at most `milliseconds`, or until the document is replaced. Returns the frame's time, which its frame callbacks
   * got; undefined if there was none.
   * @throws the signal's reason
   */
  async drawn(milliseconds: number): Promise<number | undefined> {
    const until = performance.now() + milliseconds
    await this.#pause(Math.max(0, this.#requested + USUAL_MILLISECONDS - performance.now()))
    for (;;) {
      const time = await inDocument(this.#work, 'none', () => callInPage(this.#work, 'readFrame'))
      if (typeof time === 'number') return time
      if (time === 'none' || performance.now() > until) return undefined
      await this.#pause(POLL_MILLISECONDS)
    }
  }

  /** In a tab with frame control, somebody must begin the frame. */
  #pause(milliseconds: number): Promise<void> {
    return this.#work.tab.frames ? passTime(this.#work, milliseconds) : pause(milliseconds, this.#work.signal)
  }
}

/** Milliseconds before the first poll; frames are rarely drawn earlier. */
const USUAL_MILLISECONDS = 12
/** Milliseconds between two polls: a quarter of the duration of a frame. */
const POLL_MILLISECONDS = 4
