import { STABILITY_WALL_MILLISECONDS } from '@tintype/crds/capture-options/waiting'
import { PageClock } from '../page-clock.ts'
import { pause } from '../race.ts'
import { type Motion, senseMotion } from './motion.ts'
import { follow } from './navigate.ts'
import { whileTimePasses } from './pass-time.ts'
import { settle } from './settle.ts'
import { isSamePicture, takeSmallPicture } from './small-picture.ts'
import type { Step, Work } from './step.ts'

// The bounded wait for visual stability (ADR 34). The page's timers run ahead, finite animations are brought forward with them, and requests are
// waited for. Pictures are compared only where scripts still run after that.

/** Milliseconds of page time that pass at once: while nothing moves, and while something does. Tween libraries take a gap over 500 for a pause. */
const STILL_SLICE = 500
const MOVING_SLICE = 200
/** Milliseconds of real time in which the browser draws a frame, and in which a frame callback is sure to run. */
const FRAME_MILLISECONDS = 17
const WATCH_MILLISECONDS = 20
/** Milliseconds that one request may take. A counter's hung pixel looks the same, hence no longer. */
const REQUEST_MILLISECONDS = 2_000
/** Milliseconds between two pictures that are to agree. */
const PICTURES_MILLISECONDS = 100

/** Waits until the page looks finished, for a bounded time. */
export const stability: Step = {
  name: 'stability',
  isWanted: (plan) => plan.stabilityMilliseconds > 0,
  run: async (work) => {
    const clock = new PageClock(work.tab)
    const rest = new Rest(work, clock)
    work.passTime = (milliseconds) => rest.pass(milliseconds)
    const motion = await rest.live()
    if (!isMoving(motion) || (await rest.picturesAgree())) return
    work.findings.warnings.push(`the page was still moving when the picture was taken: ${namesOf(motion).join(', ')}`)
  },
}

const isMoving = ({ hasScript, animations }: Motion): boolean => hasScript || animations > 0

const namesOf = ({ hasScript, animations, canvases }: Motion): string[] => [
  ...(animations > 0 ? ['animations'] : []),
  ...(canvases > 0 ? ['a canvas'] : []),
  ...(hasScript ? ['scripts'] : []),
]

/** One page on its way to rest. */
class Rest {
  readonly #work: Work
  readonly #clock: PageClock
  readonly #started = performance.now()
  readonly #until = this.#started + STABILITY_WALL_MILLISECONDS

  constructor(work: Work, clock: PageClock) {
    this.#work = work
    this.#clock = clock
  }

  /** Lets the page live through its time. Gives what moved last. */
  async live(): Promise<Motion> {
    const { plan, tab, signal, scriptWatch } = this.#work
    const bound = plan.stabilityMilliseconds
    let left = bound
    await pause(Math.max(0, (scriptWatch?.startedAt ?? 0) + WATCH_MILLISECONDS - performance.now()), signal)
    let motion = await senseMotion(this.#work, 0, left)
    let before = motion
    while ((left > 0 || this.#isAsking()) && performance.now() < this.#until) {
      const slice = isMoving(motion) ? MOVING_SLICE : STILL_SLICE
      const milliseconds = left > 0 ? Math.min(slice, left) : slice
      const { document } = tab.lifecycle
      await this.#advance(milliseconds)
      left = Math.max(0, left - milliseconds)
      if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) {
        await this.#arrive()
        left = bound
      }
      if (isMoving(motion)) await pause(FRAME_MILLISECONDS, signal)
      before = motion
      motion = await senseMotion(this.#work, milliseconds, left)
    }
    // A frame of a busy machine may come late: what moved in either of the last two looks counts.
    return isMoving(motion) ? motion : before
  }

  /** Whether the page comes to rest on real time, which frames and workers are on: two pictures in a row show the same. */
  async picturesAgree(): Promise<boolean> {
    const until = Math.min(this.#until, this.#started + this.#work.plan.stabilityMilliseconds)
    let before = await takeSmallPicture(this.#work)
    for (;;) {
      await this.pass(PICTURES_MILLISECONDS)
      const after = await takeSmallPicture(this.#work)
      if (await isSamePicture(this.#work, before, after)) return true
      if (performance.now() > until) return false
      before = after
    }
  }

  /** Lets as much time pass for the page as passes for the runner. */
  async pass(milliseconds: number): Promise<void> {
    await Promise.all([
      pause(milliseconds, this.#work.signal),
      this.#clock.advance(milliseconds, () => false, performance.now() + milliseconds, this.#work.signal),
    ])
  }

  #advance(milliseconds: number): Promise<void> {
    return this.#clock.advance(milliseconds, () => this.#isAsking(), this.#until, this.#work.signal)
  }

  /** Requests of a page that asks again and again count for as long as the page may live. */
  #isAsking(): boolean {
    const { tab, plan } = this.#work
    return tab.lifecycle.isAsking(performance.now() - REQUEST_MILLISECONDS, this.#started + plan.stabilityMilliseconds)
  }

  /** Follows the page to another document. Its clock must go on meanwhile, or it would never arrive. */
  async #arrive(): Promise<void> {
    const arrive = async () => {
      await follow(this.#work)
      await settle.run(this.#work)
    }
    await whileTimePasses(this.#work, arrive())
  }
}
