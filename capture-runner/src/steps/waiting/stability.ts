import { STABILITY_WALL_MILLISECONDS } from '@tintype/crds/options/page/waiting'
import { PageClock } from '../../browser/page-clock.ts'
import { inDocument } from '../in-document.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { bringForward, isMoving, type Motion, MotionWatch, STILL } from './motion.ts'
import { AwaitedFrame } from './next-frame.ts'
import { REQUEST_MILLISECONDS, whileTimePasses } from './pass-time.ts'
import { settle } from './settle.ts'
import { isSamePicture, takeSmallPicture } from './small-picture.ts'

// The bounded wait for visual stability (ADR 34). The page's timers run ahead, finite animations are brought forward with them, and requests are
// waited for. Pictures are compared only where scripts still run after that.

/** Milliseconds of page time that pass at once: while nothing moves, and while something does. Tween libraries take a gap over 500 for a pause. */
const STILL_SLICE = 480
/** Half of that while scripts run: a busy machine may leave one frame out. */
const RUNNING_SLICE = 240
const MOVING_SLICE = 200
/** Milliseconds of real time to wait for a frame, in which frame callbacks run. One takes 17; a busy machine needs more, and some pages get none. */
const FRAME_MILLISECONDS = 1_000
/** How many times the bound an animation of a page without scripts may take. */
const LONG_ANIMATION = 2.5
/** Milliseconds of real time that a worker gets from its start on: its timers do not run ahead. */
const WORKER_MILLISECONDS = 500
/** Milliseconds between two looks at what a worker has caused. */
const WORKER_SLICE = 50
/** Milliseconds between two pictures that are to agree. */
const PICTURES_MILLISECONDS = 100
/** Milliseconds beyond the bound: a tween that takes all of it begins after the page has loaded, and two pictures are to show its end. */
const LAST_LOOK_MILLISECONDS = 400

/** Waits until the page looks finished, for a bounded time. */
export const stability: Step = {
  name: 'stability',
  isWanted: (plan) => plan.stabilityMilliseconds > 0,
  run: async (work) => {
    const clock = work.clock ?? new PageClock(work.tab)
    await clock.hold()
    const rest = new Rest(work, clock)
    const motion = await rest.live()
    if (!isMoving(motion) || (await rest.picturesAgree())) return
    work.findings.warnings.push(`the page was still moving when the picture was taken: ${namesOf(motion).join(', ')}`)
  },
}

const namesOf = ({ hasScript, animations, canvases }: Motion): string[] => [
  ...(animations > 0 ? ['animations'] : []),
  ...(canvases > 0 ? ['a canvas'] : []),
  ...(hasScript ? ['scripts'] : []),
]

/** One page on its way to rest. */
class Rest {
  readonly #work: Work
  readonly #clock: PageClock
  readonly #motion: MotionWatch
  /** What the last frame took, in real time. */
  #frameMilliseconds = 0
  readonly #started = performance.now()
  readonly #until = this.#started + STABILITY_WALL_MILLISECONDS

  constructor(work: Work, clock: PageClock) {
    this.#work = work
    this.#clock = clock
    this.#motion = new MotionWatch(work)
  }

  /** Lets the page live through its time. Returns what moved last. */
  async live(): Promise<Motion> {
    const { plan, tab } = this.#work
    const bound = plan.stabilityMilliseconds
    if (tab.lifecycle.isMoving) await this.#arrive()
    let motion = await this.#motion.look(0, bound * LONG_ANIMATION)
    if (!this.#motion.hasScripts && !this.#isAsking() && !tab.lifecycle.isMoving) return this.#finishAnimations(motion, bound)
    this.#work.clock = this.#clock
    const frame = await AwaitedFrame.request(this.#work)
    motion = await this.#pass(bound, { ...motion, hasScript: false })
    if (tab.lifecycle.lastWorker !== undefined) return this.#passWithWorkers(bound, motion)
    if (isMoving(motion)) return motion
    // A frame callback shows once a frame has been drawn.
    await frame.drawn(FRAME_MILLISECONDS)
    motion = await this.#motion.look(0, bound)
    if (!motion.hasScript) return motion
    motion = await this.#pass(bound, motion)
    return motion.hasScript && !isMoving(motion) && (await this.#hasFrameTimeStopped()) ? { ...motion, hasChanges: true } : motion
  }

  /** Lets real time pass until the last worker is old enough, and page time for what it causes. Returns what moved last. */
  async #passWithWorkers(bound: number, first: Motion): Promise<Motion> {
    const { tab, signal } = this.#work
    let motion = first
    const isYoung = () => performance.now() < Math.min(this.#until, (tab.lifecycle.lastWorker ?? 0) + WORKER_MILLISECONDS)
    do {
      await this.#clock.pass(WORKER_SLICE, signal)
      motion = await this.#motion.look(WORKER_SLICE, bound)
      if (motion.hasScript) motion = await this.#pass(bound, motion)
    } while (isYoung())
    return motion
  }

  /** Without scripts there is nothing but animations, and passing their time costs none: longer ones come to their end too. */
  async #finishAnimations(motion: Motion, bound: number): Promise<Motion> {
    if (motion.animations > 0) await bringForward(this.#work, bound * LONG_ANIMATION)
    return STILL
  }

  /** Lets so much page time pass, and longer while requests are under way. Returns what moved last. */
  async #pass(bound: number, first: Motion): Promise<Motion> {
    const { tab } = this.#work
    let left = bound
    let motion = first
    let before = first
    let isQuiet = false
    let isExtended = false
    while ((left > 0 || this.#isAsking()) && performance.now() < this.#until) {
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
      motion = await this.#motion.look(milliseconds, left)
      // What begins late in a long slice needs time of its own, once.
      if (motion.hasScript && milliseconds > STILL_SLICE && !isExtended) {
        isExtended = true
        left = bound - STILL_SLICE
      }
      isQuiet = !motion.hasScript && !isMoving(motion)
    }
    // A frame of a busy machine may come late: what moved in either of the last two looks counts.
    return isMoving(motion) ? motion : before
  }

  /**
   * Whether the page comes to rest on real time, which frames and workers are on: two pictures in a row show the same, and the time of frames has gone on
   * between them.
   */
  async picturesAgree(): Promise<boolean> {
    if (performance.now() > this.#until) return false
    let until = this.#started + this.#work.plan.stabilityMilliseconds + LAST_LOOK_MILLISECONDS
    let before = await takeSmallPicture(this.#work)
    for (;;) {
      const [began, frameTime] = [performance.now(), await this.#frameTime()]
      await this.#clock.pass(PICTURES_MILLISECONDS, this.#work.signal)
      // Without a new frame the pictures would agree on a busy machine.
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
   * Whether frame callbacks run at one and the same time. The time of frames may be taken from the page's clock, which is ahead, and stands still until
   * real time has got there.
   */
  async #hasFrameTimeStopped(): Promise<boolean> {
    const frameTime = await this.#frameTime()
    await this.#motion.look(0, 0)
    await this.#drawFrame()
    const { hasScript } = await this.#motion.look(0, 0)
    return hasScript && (await this.#frameTime()) === frameTime
  }

  #frameTime(): Promise<number | undefined> {
    const { tab, signal } = this.#work
    return inDocument(this.#work, undefined, () => tab.look<number>('document.timeline.currentTime', signal))
  }

  /** Milliseconds of page time from one frame to the next. What takes long to draw gets fewer frames, as it would in real time. Absent: none is needed. */
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
