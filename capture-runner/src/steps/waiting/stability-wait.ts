import type { Advanced, FrameClock } from '../../browser/frame-clock.ts'
import { callInPage, toCall } from '../../page/call.ts'
import { pause } from '../../runtime/race.ts'
import { follow } from '../navigation/navigate.ts'
import { inDocument, type Work } from '../step.ts'
import { FramePace, isTooSlow } from './frame-pace.ts'
import { bringForward, isMoving, type Motion, MotionWatch, STILL } from './motion.ts'
import { holdClock, passTime, REQUEST_MILLISECONDS, whileTimePasses } from './page-time.ts'
import { settle } from './settle.ts'
import { isSamePicture, takeSmallPicture } from './small-picture.ts'
import { restMarquees, STOPPED, stopScripts } from './still-page.ts'

/** Page time, or real time during a request, in which a page that gains content gains some again. */
const GROWTH_MILLISECONDS = 600
/** Animations may take this many times the bound. */
const LONG_ANIMATION = 2.5
/** Real time for a worker since its start. */
const WORKER_MILLISECONDS = 500
/** Processor seconds between two checks that show that the page's process works. */
const BUSY_SECONDS = 0.02
/** Processor seconds of the main thread between two checks without a script that show an idle task, such as encoding a canvas. A check takes 0.001. */
const IDLE_TASK_SECONDS = 0.0025
/** Age of a pending request that the picture may lack. */
const PENDING_MILLISECONDS = 1_000
/** Time beyond the usual end of the wait after which the record says why. */
const LATE_MILLISECONDS = 500
/** Real time for which the time stops for requests. Later, both pass together, because a request may depend on a timer. */
const STOP_MILLISECONDS = 250
/** Number of pending requests that a warning names. */
const NAMED_REQUESTS = 2
/** Milliseconds between two checks of a page in real time. */
const REAL_SLICE = 50
/** Milliseconds between two frames in real time, and between two checks for a response. */
const TICK = 16
const POLL = 4
/** Number of checks in a row without a sign of work after which nothing is on its way: 300 ms. */
const QUIET_CHECKS = 6
/** The same if no messages may come, and idle time proves that no idle callback is left. */
const IDLE_CHECKS = 3

/** The wait for one page. */
export class StabilityWait {
  readonly #work: Work
  readonly #motion: MotionWatch
  /** The page is slower than its timers and frame callbacks demand. */
  #isTooSlow = false
  #sampledAt = performance.now()
  /** When a sample last showed that scripts had run. */
  #scriptAt = Number.NEGATIVE_INFINITY
  /** Page time that has passed, and the page time and real time at which the page gained content. */
  #page = 0
  #grown = { page: Number.NEGATIVE_INFINITY, real: Number.NEGATIVE_INFINITY }
  /** The milliseconds of the checks in real time, and those that the page had of them. On a busy machine, other processes have most of them. */
  readonly #checked = { real: 0, own: 0 }
  /** Those that count toward the usual end of the wait. */
  #counted = 0
  readonly #started = performance.now()
  /** When the wait ends unless the page gains content, and when it ends anyway. */
  readonly #usualEnd: number
  readonly #until: number

  constructor(work: Work) {
    this.#work = work
    this.#motion = new MotionWatch(work)
    this.#usualEnd = this.#started + work.plan.stabilityRealMilliseconds
    this.#until = this.#started + work.plan.stabilityMaxMilliseconds
  }

  /** Lets the plan's page time pass. Returns the last activity. */
  async run(): Promise<Motion> {
    const { plan, tab } = this.#work
    const bound = plan.stabilityMilliseconds
    if (tab.lifecycle.isMoving) await this.#arrive()
    if (!tab.frames) return this.#passRealTime(bound)
    let motion = await this.#motion.sample(bound * LONG_ANIMATION)
    if (!this.#motion.hasScripts && !this.#isWaiting() && !tab.lifecycle.isMoving) {
      const clock = await holdClock(this.#work)
      if (motion.hasDrawnImages) await this.#passFrames(clock, bound, motion)
      return this.#finishAnimations(motion, bound)
    }
    const hadUnseenWork = await this.#hasUnseenWork()
    // In real time first: idle callbacks starve while the clock is ahead, and so do the frame callbacks of workers.
    if (hadUnseenWork) motion = await this.#passUntilQuiet(motion, new IdleTime(this.#work))
    const quietAt = performance.now()
    const left = Math.max(0, bound - (quietAt - this.#started))
    const clock = await holdClock(this.#work)
    motion = await this.#passFrames(clock, left, motion)
    if (await this.#finishLongAnimations(clock, bound)) motion = await this.#sample(0)
    const isNew = hadUnseenWork ? this.#hasCausedWork(quietAt) : await this.#hasUnseenWork()
    return isNew ? this.#passUntilQuiet(motion) : motion
  }

  /** Whether something runs in real time that is no timer, request or DOM change. */
  async #hasUnseenWork(): Promise<boolean> {
    const { lastWorker, hasLiveData } = this.#work.tab.lifecycle
    return this.#motion.hasScripts && (lastWorker !== undefined || hasLiveData || (await this.#motion.mayWorkUnseen()))
  }

  /** Whether the page may have caused such work since this time. Each script may have sent a worker a message. */
  #hasCausedWork(since: number): boolean {
    const { lastWorker, trafficAt } = this.#work.tab.lifecycle
    return Math.max(this.#grown.real, trafficAt, lastWorker === undefined ? 0 : this.#scriptAt) > since
  }

  /** Lets page time pass for timers, frames and animations together. While requests are pending, real time passes. Returns the last activity. */
  async #passFrames(clock: FrameClock, bound: number, first: Motion): Promise<Motion> {
    const { tab, signal } = this.#work
    const pace = new FramePace()
    const until = this.#work.plan.stabilityMaxMilliseconds
    const { threadSeconds } = this.#motion
    const began = performance.now()
    let left = bound
    let motion: Motion = { ...first, hasScript: false }
    while (this.#isDue(left)) {
      const { document } = tab.lifecycle
      let step: (Advanced & { isDrawn: boolean }) | undefined
      if (this.#isWaiting(left > 0 ? STOP_MILLISECONDS : 0)) {
        await clock.pass(TICK, signal)
        this.#page += TICK
      } else if (this.#isWaiting()) await this.#passStopped()
      else {
        const milliseconds = pace.stepWithin(left)
        const isDrawn = pace.isDrawn(left > 0 && milliseconds >= left)
        step = { isDrawn, ...(await this.#passStep(clock, milliseconds, pace.frames, isDrawn)) }
        left = Math.max(0, left - step.milliseconds)
      }
      if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) {
        await this.#arrive()
        left = bound
      }
      motion = await this.#sample(left)
      if (step) {
        const end = { ...step, hasScript: motion.hasScript, hasFrameScript: motion.hasFrameScript }
        pace.note(end)
        const isOver = left <= 0 && performance.now() - began < bound
        left = Math.max(left, Math.min(bound, pace.extend(step.milliseconds, isOver, end)))
      }
      const real = performance.now() - this.#started
      this.#isTooSlow = clock.hasEndedScripts || real >= until || isTooSlow(this.#motion.threadSeconds - threadSeconds)
      if (this.#isTooSlow) return motion
    }
    return motion
  }

  /** Lets real time pass. Restarts for a new document. Returns the last activity. */
  async #passRealTime(bound: number): Promise<Motion> {
    const { tab, signal } = this.#work
    let { document } = tab.lifecycle
    let began = performance.now()
    while (performance.now() < Math.min(began + bound, this.#until)) {
      await pause(Math.min(REAL_SLICE, bound), signal)
      if (!tab.lifecycle.isMoving && tab.lifecycle.document === document) continue
      await this.#arrive()
      document = tab.lifecycle.document
      began = performance.now()
    }
    await this.#motion.sample(0)
    await pause(REAL_SLICE, signal)
    return this.#motion.sample(0)
  }

  /** A page without scripts has only animations. Advancing them costs no time, so longer ones are finished too. */
  async #finishAnimations(motion: Motion, bound: number): Promise<Motion> {
    if (motion.animations > 0) await bringForward(this.#work, bound * LONG_ANIMATION)
    return STILL
  }

  /** Brings longer animations to their end, as in a page without scripts. What follows an animation gets a frame. */
  async #finishLongAnimations(clock: FrameClock, bound: number): Promise<boolean> {
    const left = bound * (LONG_ANIMATION - 1)
    if (!(await this.#motion.hasAnimations(left))) return false
    await bringForward(this.#work, left)
    await this.#advance(clock, TICK, true)
    return true
  }

  /**
   * Lets real time pass for work that runs in real time, such as sockets, streams, idle callbacks, decoders and workers, until the page is quiet.
   * @param firstIdleTime what must be over, and again after each gain; absent: idle callbacks starve, because the page's clock is ahead
   * @returns the last activity
   */
  async #passUntilQuiet(first: Motion, firstIdleTime?: IdleTime): Promise<Motion> {
    const { tab } = this.#work
    let motion = first
    let picture: string | undefined
    // Checks in a row in which the page gained nothing, did nothing, and ran scripts. On a busy machine, they take longer.
    let [withoutGain, withoutWork, withScript] = [0, 0, 0]
    let idleTime = firstIdleTime
    let hadIdleTime = !idleTime
    while (performance.now() < this.#until) {
      const { lastWorker, hasLiveData } = tab.lifecycle
      const isProven = idleTime !== undefined && hadIdleTime && lastWorker === undefined && !hasLiveData
      const quietChecks = Math.floor((isProven ? IDLE_CHECKS : QUIET_CHECKS) * this.#slowness)
      // What works or moves without a gain may never rest.
      const isLate = this.#counted > this.#work.plan.stabilityRealMilliseconds
      const gainsNothing = withoutGain >= quietChecks && !this.#hasYoungWorker && (hadIdleTime || isLate)
      // Frame callbacks that run all the time, without new content, never rest.
      if (gainsNothing && withScript >= quietChecks) return motion
      if (gainsNothing && (withoutWork >= quietChecks || isLate)) {
        if (!this.#motion.hasCanvas || isLate) return motion
        const before = picture
        picture = await takeSmallPicture(this.#work)
        if (before !== undefined && (await isSamePicture(this.#work, before, picture))) return motion
      }
      const { document } = tab.lifecycle
      const [checkedAt, { processSeconds, threadSeconds }] = [performance.now(), this.#motion]
      await passTime(this.#work, REAL_SLICE)
      if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) await this.#arrive()
      const wasIdle = idleTime?.isOver !== false
      motion = await this.#sample(this.#work.plan.stabilityMilliseconds)
      const isGaining =
        motion.hasGrown || tab.lifecycle.trafficAt > checkedAt || tab.lifecycle.hasUnanswered(checkedAt - REQUEST_MILLISECONDS)
      const workSeconds = this.#motion.processSeconds - processSeconds
      const own = Math.max(REAL_SLICE, workSeconds * 1_000)
      this.#checked.real += performance.now() - checkedAt
      this.#checked.own += own
      // While idle time does not come, either the page works, or the machine has no time for it.
      this.#counted += idleTime?.isOver === false ? workSeconds * 1_000 : own
      const isWorking = motion.hasScript || isMoving(motion) || workSeconds >= BUSY_SECONDS
      // An idle task may request the next one. The frames of endless animations take as long.
      const hadIdleTask = !motion.hasScript && !this.#work.hasEndless && this.#motion.threadSeconds - threadSeconds >= IDLE_TASK_SECONDS
      withoutGain = isGaining ? 0 : withoutGain + 1
      withoutWork = isWorking ? 0 : withoutWork + 1
      withScript = motion.hasScript ? withScript + 1 : 0
      // What was added during the idle time is in this sample.
      hadIdleTime = !isGaining && !hadIdleTask && (hadIdleTime || wasIdle)
      if ((isGaining || hadIdleTask) && idleTime) idleTime = new IdleTime(this.#work)
      // In a tall window, the browser may expect a frame that never comes. Another one ends that wait, and idle time follows.
      if (idleTime?.isOver === false && withoutGain > 0 && withoutGain % QUIET_CHECKS === 0)
        await inDocument(this.#work, undefined, () => callInPage(this.#work, 'nextFrame'))
    }
    return motion
  }

  /** True if the page gained content or received data to the end of the wait. */
  isCutShort = false
  /** True if the scripts of the page took longer than its timers allow, and were stopped. */
  hasOverrun = false

  /** Adds a warning if the wait took longer than usual or missed something. */
  reportTime(): void {
    const { tab, findings, hasEndedTask } = this.#work
    const now = performance.now()
    const pending = tab.lifecycle.pendingContent(now - PENDING_MILLISECONDS)
    const isReceiving = now - tab.lifecycle.trafficAt < QUIET_CHECKS * REAL_SLICE
    const what = isReceiving ? 'receiving data' : this.#isGrowing() ? 'gaining content' : undefined
    if (pending.length > 0) findings.warnings.push(`the page was still waiting for ${describe(pending)} when the picture was taken`)
    // What the page received during the task was reported after it.
    if (hasEndedTask) return
    this.isCutShort = now > this.#until && what !== undefined
    if (this.isCutShort) findings.warnings.push(`the page was still ${what} when the picture was taken`)
    else if (Math.max(this.#grown.real, tab.lifecycle.trafficAt) > this.#usualEnd + LATE_MILLISECONDS) {
      findings.warnings.push(`the wait took ${Math.round(now - this.#started)} ms, because the page was gaining content or receiving data`)
    }
  }

  async restMarquees(): Promise<void> {
    if (this.#motion.hasMarquee) await restMarquees(this.#work)
  }

  /** Stops the scripts of a page that is slower than its timers and frame callbacks demand: the browser would draw late. Printing needs no frames. */
  async hasStoppedScripts(motion: Motion): Promise<boolean> {
    const { plan, findings } = this.#work
    if (plan.pages || !this.#isTooSlow) return false
    await stopScripts(this.#work)
    // Else the page has waited for a request, or the scripts have ended.
    this.hasOverrun = !this.#work.hasEndedTask && !this.#isWaiting() && (motion.hasScript || isMoving(motion))
    if (this.hasOverrun) findings.warnings.push(STOPPED)
    return true
  }

  /** Page time since the wait began; real time in a tab that draws by itself. */
  get passed(): number {
    return this.#work.clock ? this.#page : performance.now() - this.#started
  }

  /** Lets time pass in frames, of which the last is drawn. */
  async passInFrames(milliseconds: number): Promise<void> {
    const { clock, signal } = this.#work
    if (!clock) return pause(milliseconds, signal)
    for (let passed = 0; passed < milliseconds; passed += TICK) {
      await this.#advance(clock, TICK, passed + TICK >= milliseconds)
    }
  }

  async #advance(clock: FrameClock, milliseconds: number, isDrawn: boolean): Promise<Advanced> {
    const advanced = await clock.advance(milliseconds, isDrawn, this.#work.signal)
    this.#page += advanced.milliseconds
    return advanced
  }

  /** Waits for the response that the time has stopped for, but not longer than it stops. Timers and frames stand still, so nothing needs a sample. */
  async #passStopped(): Promise<void> {
    const { tab, signal } = this.#work
    const { document } = tab.lifecycle
    do await pause(POLL, signal)
    while (this.#isWaiting() && !this.#isWaiting(STOP_MILLISECONDS) && !tab.lifecycle.isMoving && tab.lifecycle.document === document)
  }

  /** Lets time pass in a number of frames, of which only the last may be drawn, and finds out whether scripts run in it. */
  async #passStep(clock: FrameClock, milliseconds: number, frames: number, isDrawn: boolean): Promise<Advanced> {
    const { signal } = this.#work
    const until = performance.now() + milliseconds
    const interval = milliseconds / frames
    let passed = 0
    // Frames that take longer than in real time are left out, as a browser does.
    for (let left = frames - 1; left > 0 && performance.now() < until; left--) {
      passed += (await this.#advance(clock, interval, false)).milliseconds
    }
    const last = Math.max(interval, milliseconds - passed)
    const rest = await clock.advanceTime(last, signal)
    this.#page += rest
    if (this.#motion.hasScripts) await this.#motion.noteFrame()
    return { milliseconds: passed + rest, hasDamage: await clock.beginFrame(last, isDrawn, signal) }
  }

  async #sample(left: number): Promise<Motion> {
    this.#sampledAt = performance.now()
    const motion = await this.#motion.sample(left)
    if (motion.hasScript) this.#scriptAt = performance.now()
    if (motion.hasGrown) this.#grown = { page: this.#page, real: performance.now() }
    return motion
  }

  /** Whether page time is left, a request is pending, or the page gains content. */
  #isDue(left: number): boolean {
    if (left > 0 || this.#isWaiting()) return true
    return this.#isFetching() || (this.#page < this.#work.plan.stabilityMaxMilliseconds && this.#isGrowing())
  }

  /** Whether the page requests something new, or got it since the last sample: one response may lead to the next request. */
  #isFetching(): boolean {
    const { lifecycle } = this.#work.tab
    const now = performance.now()
    return lifecycle.hasNewRequests(now - REQUEST_MILLISECONDS, now) || lifecycle.newContentAt > this.#sampledAt
  }

  /** How many times as long as on an idle machine the checks took, at least 1. */
  get #slowness(): number {
    const { real, own } = this.#checked
    return own === 0 ? 1 : Math.max(1, real / own)
  }

  get #hasYoungWorker(): boolean {
    return performance.now() - (this.#work.tab.lifecycle.lastWorker ?? Number.NEGATIVE_INFINITY) < WORKER_MILLISECONDS
  }

  #isGrowing(): boolean {
    const isRecent = this.#page - this.#grown.page < GROWTH_MILLISECONDS
    return isRecent && (performance.now() - this.#grown.real < GROWTH_MILLISECONDS || !this.#isWaiting())
  }

  /**
   * For a page that sends requests again and again, pending requests count only until the bound, unless they are for something new.
   * @param age how old a request must be, in milliseconds
   */
  #isWaiting(age = 0): boolean {
    const { tab, plan } = this.#work
    const now = performance.now()
    const [from, to] = [now - REQUEST_MILLISECONDS, now - age]
    const bound = this.#started + plan.stabilityMilliseconds
    return tab.lifecycle.hasPendingRequests(from, Math.min(to, bound)) || tab.lifecycle.hasNewRequests(from, to)
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

/** Names requests by their URLs, without the parameters. */
function describe(urls: readonly string[]): string {
  const names = urls.slice(0, NAMED_REQUESTS).map((url) => (url.split(/[?#]/, 1)[0] ?? '').slice(0, 80))
  const more = urls.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(' and ')
}

/**
 * The next idle time of a page. Once it is over, all idle callbacks that the page had requested have been called. The browser may delay them by more than
 * 300 ms, and a busy machine as well.
 */
class IdleTime {
  isOver = false

  constructor(work: Work) {
    const end = () => {
      this.isOver = true
    }
    inDocument(work, undefined, () => work.tab.evaluate(toCall('whenIdle'), work.signal, { awaitPromise: true })).then(end, end)
  }
}
