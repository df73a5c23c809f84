import { pause } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'

/**
 * Waits until the browser has drawn a frame of the page, or for so many milliseconds. It uses no frame callback, which would count as a script of the
 * page. The page's scripts must be on and its clock must run: promises wait for both.
 */
export async function nextFrame({ tab, signal }: Work, milliseconds: number): Promise<void> {
  // The page may go away meanwhile.
  const frame = tab.look(FRAME, signal, true).catch(() => signal.throwIfAborted())
  await Promise.race([frame, pause(milliseconds, signal)])
}

/**
 * A frame that was asked for, for pages whose clock stands still: it tells that frame callbacks of the page have run. It is asked about again and again,
 * for no promise of the page is fulfilled meanwhile.
 */
export class AwaitedFrame {
  readonly #work: Work
  readonly #requested = performance.now()

  private constructor(work: Work) {
    this.#work = work
  }

  /** Asks the browser for a frame. */
  static async request(work: Work): Promise<AwaitedFrame> {
    const frame = new AwaitedFrame(work)
    await frame.#look(`void (globalThis.tintypeFrame = ${ANIMATION})`)
    return frame
  }

  /** Waits until it has been drawn, or for so many milliseconds, or until the document goes away. @throws the signal's reason */
  async drawn(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds
    await pause(Math.max(0, this.#requested + USUAL_MILLISECONDS - performance.now()), this.#work.signal)
    while ((await this.#look('globalThis.tintypeFrame?.pending')) === true && performance.now() < until) {
      await pause(POLL_MILLISECONDS, this.#work.signal)
    }
  }

  #look(expression: string): Promise<unknown> {
    const { tab, signal } = this.#work
    return inDocument(this.#work, undefined, () => tab.look(expression, signal))
  }
}

/** Milliseconds after which the first look is worth its cost. */
const USUAL_MILLISECONDS = 12
/** Milliseconds between two looks at whether a frame has been drawn: a quarter of what one takes. */
const POLL_MILLISECONDS = 4

/** An animation without a target, which the browser itself begins with the next frame. */
const ANIMATION = `(() => {
  const animation = new Animation(new KeyframeEffect(null, null, 1))
  animation.play()
  return animation
})()`

const FRAME = `${ANIMATION}.ready`
