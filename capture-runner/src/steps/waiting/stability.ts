import { PageClock } from '../../browser/page-clock.ts'
import { callInPage } from '../../page/call.ts'
import { inDocument } from '../in-document.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { bringForward, isMoving, type Motion, MotionWatch, STILL } from './motion.ts'
import { AwaitedFrame } from './next-frame.ts'
import { REQUEST_MILLISECONDS, whileTimePasses } from './pass-time.ts'
import { settle } from './settle.ts'
import { isSamePicture, takeSmallPicture } from './small-picture.ts'

// The bounded wait for visual stability (ADR 34). It advances the page's timers and finite animations faster than real time, and waits for
// pending requests. It compares screenshots only if scripts still run after that.

/** Slice of page time while nothing moves. Tween libraries treat a gap over 500 ms as a pause. */
const STILL_SLICE = 480
/** Slice while scripts run: half of that, because a busy machine may skip a frame. */
const RUNNING_SLICE = 240
const MOVING_SLICE = 200
/** How long to wait for a frame, in real time, so that frame callbacks run. Usually 17 ms; a busy machine needs more; some pages get none. */
const FRAME_MILLISECONDS = 1_000
/** In pages without scripts, animations may take this many times the bound. */
const LONG_ANIMATION = 2.5
/** Real time for a worker since its start, because its timers cannot be advanced. */
const WORKER_MILLISECONDS = 500
/** Milliseconds between two checks for effects of a worker. */
const WORKER_SLICE = 50
/** Milliseconds between two compared screenshots. */
const PICTURES_MILLISECONDS = 100

/** Waits until the page is visually stable, for a bounded time. */
export const stability: Step = {
  name: 'stability',
  isWanted: (plan) => plan.stabilityMilliseconds > 0,
  run: async (work) => {
    const clock = work.clock ?? new PageClock(work.tab)
    await clock.hold()
    const wait = new StabilityWait(work, clock)
    const motion = await wait.run()
    if (!isMoving(motion) || (await wait.isVisuallyStable())) return
    work.findings.warnings.push(`the page was still moving when the picture was taken: ${namesOf(motion).join(', ')}`)
  },
}

const namesOf = ({ hasScript, animations, canvases }: Motion): string[] => [
  ...(animations > 0 ? ['animations'] : []),
  ...(canvases > 0 ? ['a canvas'] : []),
  ...(hasScript ? ['scripts'] : []),
]

/** The wait for one page. */
class StabilityWait {
  readonly #work: Work
  readonly #clock: PageClock
  readonly #motion: MotionWatch
  /** Duration of the last frame in real time. */
  #frameMilliseconds = 0
  readonly #started = performance.now()
  readonly #until: number

  constructor(work: Work, clock: PageClock) {
    this.#work = work
    this.#clock = clock
    this.#motion = new MotionWatch(work)
    this.#until = this.#started + work.plan.stabilityRealMilliseconds
  }

  /** Lets the plan's page time pass. Returns the last activity. */
  async run(): Promise<Motion> {
    const { plan, tab } = this.#work
    const bound = plan.stabilityMilliseconds
    if (tab.lifecycle.isMoving) await this.#arrive()
    let motion = await this.#motion.sample(0, bound * LONG_ANIMATION)
    if (!this.#motion.hasScripts && !this.#isWaiting() && !tab.lifecycle.isMoving) return this.#finishAnimations(motion, bound)
    this.#work.clock = this.#clock
    const frame = await AwaitedFrame.request(this.#work)
    motion = await this.#pass(bound, { ...motion, hasScript: false })
    if (tab.lifecycle.lastWorker !== undefined) return this.#passWithWorkers(bound, motion)
    if (isMoving(motion)) return motion
    // Frame callbacks become visible only after a frame was drawn.
    await frame.drawn(FRAME_MILLISECONDS)
    motion = await this.#motion.sample(0, bound)
    if (!motion.hasScript) return motion
    motion = await this.#pass(bound, motion)
    return motion.hasScript && !isMoving(motion) && (await this.#hasFrameTimeStopped()) ? { ...motion, hasChanges: true } : motion
  }

  /** Lets real time pass until the last worker is old enough, and page time for its effects. Returns the last activity. */
  async #passWithWorkers(bound: number, first: Motion): Promise<Motion> {
    const { tab, signal } = this.#work
    let motion = first
    const isYoung = () => performance.now() < Math.min(this.#until, (tab.lifecycle.lastWorker ?? 0) + WORKER_MILLISECONDS)
    do {
      await this.#clock.pass(WORKER_SLICE, signal)
      motion = await this.#motion.sample(WORKER_SLICE, bound)
      if (motion.hasScript) motion = await this.#pass(bound, motion)
    } while (isYoung())
    return motion
  }

  /** A page without scripts has only animations. Advancing them costs no time, so longer ones are finished too. */
  async #finishAnimations(motion: Motion, bound: number): Promise<Motion> {
    if (motion.animations > 0) await bringForward(this.#work, bound * LONG_ANIMATION)
    return STILL
  }

  /** Lets page time pass, and longer while requests are pending. Returns the last activity. */
  async #pass(bound: number, first: Motion): Promise<Motion> {
    const { tab } = this.#work
    let left = bound
    let motion = first
    let before = first
    let isQuiet = false
    let isExtended = false
    while ((left > 0 || this.#isWaiting()) && performance.now() < this.#until) {
      const slice = this.#sliceFor(motion) ?? (isQuiet ? Math.max(left, STILL_SLICE) : STILL_SLICE)
      const milliseconds = left > 0 ? Math.min(slice, left) : slice
      const { document } = tab.lifecycle
      await this.#advance(milliseconds)
      left = Math.max(0, left - milliseconds)
      if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) {
        await this.#arrive()
        left = bound
      }
      if (motion.hasScript || isMoving(motion)) await this.#drawFrame()
      before = motion
      motion = await this.#motion.sample(milliseconds, left)
      // Activity that begins late in a long slice gets additional time, once.
      if (motion.hasScript && milliseconds > STILL_SLICE && !isExtended) {
        isExtended = true
        left = bound - STILL_SLICE
      }
      isQuiet = !motion.hasScript && !isMoving(motion)
    }
    // On a busy machine a frame may be late, so activity in either of the last two samples counts.
    return isMoving(motion) ? motion : before
  }

  /**
   * Whether the page becomes stable in real time, on which frames and workers run: two successive screenshots show the same, and frame time has
   * advanced between them.
   */
  async isVisuallyStable(): Promise<boolean> {
    if (performance.now() > this.#until) return false
    let until = this.#started + this.#work.plan.stabilityPicturesMilliseconds
    let before = await takeSmallPicture(this.#work)
    for (;;) {
      const [began, frameTime] = [performance.now(), await this.#frameTime()]
      await this.#clock.pass(PICTURES_MILLISECONDS, this.#work.signal)
      // Without a new frame, the screenshots would be equal on a busy machine.
      await this.#drawFrame()
      const hasStopped = (await this.#frameTime()) === frameTime
      const after = await takeSmallPicture(this.#work)
      if (!hasStopped && (await isSamePicture(this.#work, before, after))) return true
      if (hasStopped) until += performance.now() - began
      if (performance.now() > Math.min(this.#until, until)) return false
      before = after
    }
  }

  /**
   * True if frame callbacks get the same time twice. Frame time may come from the page's clock, which is ahead, and stands still until real time
   * has caught up.
   */
  async #hasFrameTimeStopped(): Promise<boolean> {
    const frameTime = await this.#frameTime()
    await this.#motion.sample(0, 0)
    await this.#drawFrame()
    const { hasScript } = await this.#motion.sample(0, 0)
    return hasScript && (await this.#frameTime()) === frameTime
  }

  #frameTime(): Promise<number | undefined> {
    return inDocument(this.#work, undefined, () => callInPage(this.#work, 'readFrameTime'))
  }

  /** Page time between two frames. Pages that are slow to draw get fewer frames, as in real time. Undefined: no frame is needed. */
  #sliceFor(motion: Motion): number | undefined {
    const usual = isMoving(motion) ? MOVING_SLICE : motion.hasScript ? RUNNING_SLICE : undefined
    return usual && Math.min(STILL_SLICE, Math.max(usual, 2 * this.#frameMilliseconds))
  }

  async #drawFrame(): Promise<void> {
    const started = performance.now()
    const frame = await AwaitedFrame.request(this.#work)
    await frame.drawn(FRAME_MILLISECONDS)
    this.#frameMilliseconds = performance.now() - started
  }

  #advance(milliseconds: number): Promise<void> {
    return this.#clock.advance(milliseconds, () => this.#isWaiting(), this.#until, this.#work.signal)
  }

  /** For a page that sends requests again and again, pending requests count only until the bound. */
  #isWaiting(): boolean {
    const { tab, plan } = this.#work
    return tab.lifecycle.hasPendingRequests(performance.now() - REQUEST_MILLISECONDS, this.#started + plan.stabilityMilliseconds)
  }

  /** Follows a navigation to a new document. The page's clock must run meanwhile, or the navigation would never finish. */
  async #arrive(): Promise<void> {
    const arrive = async () => {
      await follow(this.#work)
      await settle.run(this.#work)
    }
    await whileTimePasses(this.#work, arrive())
  }
}
