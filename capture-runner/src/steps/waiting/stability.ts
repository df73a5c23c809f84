import { MAX_MOVING_ELEMENTS, MAX_MOVING_SELECTOR, type MovingParts } from '@tintype/crds/kinds/comparison'
import { FrameClock } from '../../browser/frame-clock.ts'
import { PageClock, STOP_MILLISECONDS } from '../../browser/page-clock.ts'
import { callInPage } from '../../page/call.ts'
import type { WindowShare } from '../../page/functions.ts'
import { pause } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import { follow } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { FramePace, isTooSlow, MAX_REAL_MILLISECONDS, SKIPPED_MILLISECONDS } from './frame-pace.ts'
import { IdleTime } from './idle-time.ts'
import { restMarquees } from './marquees.ts'
import { bringForward, isMoving, type Motion, MotionWatch, namesOf, STILL } from './motion.ts'
import { AwaitedFrame } from './next-frame.ts'
import { holdClock, passTime, REQUEST_MILLISECONDS, whileTimePasses } from './pass-time.ts'
import { restEndless } from './rest-endless.ts'
import { settle } from './settle.ts'
import { AREA_TOLERANCE, findMoved, isSamePicture, mergeAreas, takeSmallPicture } from './small-picture.ts'
import { STOPPED, stopScripts } from './stop-scripts.ts'

// The bounded wait for visual stability (ADR 34). It advances the page's timers and finite animations faster than real time, and waits for
// pending requests. It compares screenshots only if scripts still run after that.

/** Slice of page time while nothing moves. Tween libraries treat a gap over 500 ms as a pause. */
const STILL_SLICE = 480
/** Slice while scripts run: half of that, because a busy machine may skip a frame. */
const RUNNING_SLICE = 240
const MOVING_SLICE = 200
/** Slice of a page that needs more real time than page time. */
const SLOW_SLICE = 100
/** Page time, or real time during a request, in which a page that gains content gains some again. */
const GROWTH_MILLISECONDS = 600
/** Frame time in which frame callbacks must change nothing. */
const STILL_FRAME_MILLISECONDS = 48
/** How long to wait for a frame, in real time, so that frame callbacks run. Usually 17 ms; a busy machine needs more; some pages get none. */
const FRAME_MILLISECONDS = 1_000
/** The same when the time of the wait is over. */
const MIN_FRAME_MILLISECONDS = 100
/** Animations may take this many times the bound. */
const LONG_ANIMATION = 2.5
/** Real time for a worker since its start. */
const WORKER_MILLISECONDS = 500
/** Milliseconds between two compared screenshots. */
const PICTURES_MILLISECONDS = 100
/** Real time, and pairs of screenshots, after which what moved in the last run of the schedule is not waited for. */
const KNOWN_MILLISECONDS = 1_000
const KNOWN_PAIRS = 3
/** Processor seconds between two checks that show that the page's process works. */
const BUSY_SECONDS = 0.02
/** Age of a pending request that the picture may lack. */
const PENDING_MILLISECONDS = 1_000
/** Time beyond the usual end of the wait after which the record says why. */
const LATE_MILLISECONDS = 500
/** Number of pending requests that a warning names. */
const NAMED_REQUESTS = 2
/** Milliseconds between two checks of a page in real time. */
const REAL_SLICE = 50
/** Milliseconds between two frames in real time, and between two checks for a response. */
const TICK = 16
const POLL = 4
/** Number of checks in a row without a sign of work after which nothing is on its way: 300 ms. */
const QUIET_CHECKS = 6

/** Waits until the page is visually stable, for a bounded time. */
export const stability: Step = {
  name: 'stability',
  onFailure: 'warn',
  isWanted: (plan) => plan.stabilityMilliseconds > 0,
  run: async (work) => {
    await work.clock?.hold()
    const wait = new StabilityWait(work)
    const motion = await wait.run()
    wait.reportTime()
    await wait.restMarquees()
    const hasStopped = await wait.hasStoppedScripts(motion)
    if (wait.hasOverrun || (work.plan.isStabilityTelling && wait.isCutShort)) work.findings.moving = { elements: [], isEndless: true }
    if (hasStopped || !isMoving(motion)) return
    // What they paint outside of their boxes would never rest.
    await restEndless(work)
    const areas = await wait.waitForRest()
    if (areas.length === 0) return
    const moving = await nameMoving(work, areas)
    work.findings.moving = { ...work.findings.moving, ...moving }
    const where = moving.elements.length > 0 ? ` in ${moving.elements.join(', ')}. compare_ignore leaves elements out` : ''
    work.findings.warnings.push(`the page was still moving when the picture was taken: ${namesOf(motion).join(', ')}${where}`)
  },
}

const NO_NAMES: (string | null)[] = []

/** Names the elements in areas of the window. An area without an element of its own makes the whole page a moving one. */
async function nameMoving(work: Work, areas: readonly WindowShare[]): Promise<MovingParts> {
  const names = await inDocument(work, NO_NAMES, () => callInPage(work, 'nameElements', areas, AREA_TOLERANCE))
  const elements = [...new Set(names)].filter((name) => name !== null).filter(({ length }) => length <= MAX_MOVING_SELECTOR)
  return { elements: elements.slice(0, MAX_MOVING_ELEMENTS), ...(names.includes(null) ? { isEndless: true } : {}) }
}

/** Names requests by their URLs, without the parameters. */
function describe(urls: readonly string[]): string {
  const names = urls.slice(0, NAMED_REQUESTS).map((url) => (url.split(/[?#]/, 1)[0] ?? '').slice(0, 80))
  const more = urls.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(' and ')
}

/** The wait for one page. */
class StabilityWait {
  readonly #work: Work
  /** Absent: the runner begins the frames of the tab. */
  readonly #clock: PageClock | undefined
  readonly #motion: MotionWatch
  /** Duration of the last frame in real time, and its time. */
  #frameMilliseconds = 0
  #frameTime: number | undefined
  #frames = 0
  /** Frame time that has passed since the last change. */
  #stillFrameTime = 0
  /** Whether the last advance took longer in real time than in page time. */
  #isSlow = false
  /** The page is slower than its timers and frame callbacks demand. */
  #isTooSlow = false
  #sampledAt = performance.now()
  /** When a sample last showed that scripts had run. */
  #scriptAt = Number.NEGATIVE_INFINITY
  /** Page time that has passed, and the page time and real time at which the page gained content. */
  #page = 0
  #grown = { page: Number.NEGATIVE_INFINITY, real: Number.NEGATIVE_INFINITY }
  readonly #started = performance.now()
  /** When the wait ends unless the page gains content, and when it ends anyway. */
  readonly #usualEnd: number
  readonly #until: number

  constructor(work: Work) {
    this.#work = work
    if (!work.tab.frames) this.#clock = work.clock instanceof PageClock ? work.clock : new PageClock(work.tab, work.onLongTask)
    this.#motion = new MotionWatch(work)
    this.#usualEnd = this.#started + work.plan.stabilityRealMilliseconds
    this.#until = this.#started + work.plan.stabilityMaxMilliseconds
  }

  /** Lets the plan's page time pass. Returns the last activity. */
  async run(): Promise<Motion> {
    const { plan, tab } = this.#work
    const bound = plan.stabilityMilliseconds
    if (tab.lifecycle.isMoving) await this.#arrive()
    if (this.#work.isRealTime) return this.#passRealTime(bound)
    let motion = await this.#motion.sample(0, bound * LONG_ANIMATION)
    if (!this.#motion.hasScripts && !this.#isWaiting() && !tab.lifecycle.isMoving) {
      if (tab.frames) await holdClock(this.#work)
      return this.#finishAnimations(motion, bound)
    }
    const hadUnseenWork = await this.#hasUnseenWork()
    // In real time first: idle callbacks starve while the clock is ahead, and so do the frame callbacks of workers.
    if (hadUnseenWork) motion = await this.#passUntilQuiet(motion, new IdleTime(this.#work))
    const quietAt = performance.now()
    const left = Math.max(0, bound - (quietAt - this.#started))
    if (this.#clock) this.#work.clock = this.#clock
    const clock = await holdClock(this.#work)
    motion = await (clock instanceof FrameClock ? this.#passFrames(clock, left, motion) : this.#passPageTime(left, motion))
    if (await this.#finishLongAnimations(bound)) motion = await this.#sample(0, 0)
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

  /** Lets page time pass until scripts and frame callbacks have had it. Returns the last activity. */
  async #passPageTime(bound: number, first: Motion): Promise<Motion> {
    const frame = await AwaitedFrame.request(this.#work)
    let motion = await this.#pass(bound, { ...first, hasScript: false })
    if (isMoving(motion) || this.#frames > 0) return this.#watchFrames(motion)
    // Frame callbacks become visible only after a frame was drawn.
    await frame.drawn(FRAME_MILLISECONDS)
    motion = await this.#sample(0, bound)
    if (!motion.hasScript) return motion
    return this.#watchFrames(await this.#pass(bound, motion))
  }

  /** Lets page time pass for timers, frames and animations together. While requests are pending, real time passes. Returns the last activity. */
  async #passFrames(clock: FrameClock, bound: number, first: Motion): Promise<Motion> {
    const { tab, signal } = this.#work
    const pace = new FramePace()
    const until = this.#started + MAX_REAL_MILLISECONDS
    const { threadSeconds } = this.#motion
    let left = bound
    let motion: Motion = { ...first, hasScript: false }
    let hasExtended = false
    while (this.#isDue(left, until, until) || (motion.hasScript && pace.mayCount)) {
      const { document } = tab.lifecycle
      let step: { milliseconds: number; isDrawn: boolean; hasDamage: boolean } | undefined
      if (this.#isWaiting(left > 0 ? STOP_MILLISECONDS : 0)) {
        await clock.pass(TICK, signal)
        this.#page += TICK
      } else if (this.#isWaiting()) await pause(POLL, signal)
      else {
        const milliseconds = pace.stepWithin(left)
        const isDrawn = pace.isDrawn(left > 0 && milliseconds >= left)
        step = { isDrawn, ...(await clock.advance(milliseconds, isDrawn, signal)) }
        left = Math.max(0, left - step.milliseconds)
        this.#page += step.milliseconds
      }
      if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) {
        await this.#arrive()
        left = bound
      }
      motion = await this.#sample(0, left)
      if (step) {
        const end = { ...step, hasScript: motion.hasScript }
        pace.note(end)
        // What begins late gets additional time, once.
        if (pace.hasSkipped(step.milliseconds, end) && !hasExtended) {
          hasExtended = true
          left = Math.min(bound, SKIPPED_MILLISECONDS)
        }
      }
      const real = performance.now() - this.#started
      this.#isTooSlow = clock.hasEndedScripts || isTooSlow(this.#motion.threadSeconds - threadSeconds, real)
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
    await this.#motion.sample(0, 0)
    await pause(REAL_SLICE, signal)
    return this.#motion.sample(0, 0)
  }

  /** A page without scripts has only animations. Advancing them costs no time, so longer ones are finished too. */
  async #finishAnimations(motion: Motion, bound: number): Promise<Motion> {
    if (motion.animations > 0) await bringForward(this.#work, bound * LONG_ANIMATION)
    return STILL
  }

  /** Brings longer animations to their end, as in a page without scripts. What follows an animation gets a frame. */
  async #finishLongAnimations(bound: number): Promise<boolean> {
    const left = bound * (LONG_ANIMATION - 1)
    if (!(await this.#motion.hasAnimations(left))) return false
    await bringForward(this.#work, left)
    await this.#drawFrame()
    return true
  }

  /** Lets page time pass, and longer while requests are pending. Returns the last activity. */
  async #pass(bound: number, first: Motion): Promise<Motion> {
    const { tab } = this.#work
    let left = bound
    let motion = first
    let before = first
    let isQuiet = false
    let isExtended = false
    while (this.#isDue(left)) {
      const slice = this.#sliceFor(motion) ?? (isQuiet ? Math.max(left, STILL_SLICE) : STILL_SLICE)
      const milliseconds = left > 0 ? Math.min(slice, left) : slice
      const { document } = tab.lifecycle
      const isReal = this.#isWaiting(left > 0 ? STOP_MILLISECONDS : 0)
      let passed = 0
      if (isReal) await this.#passReal()
      else passed = await this.#advance(milliseconds)
      left = Math.max(0, left - passed)
      if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) {
        await this.#arrive()
        left = bound
      }
      const frameTime = motion.hasScript || isMoving(motion) ? await this.#drawFrame() : 0
      before = motion
      motion = await this.#sample(passed, left)
      this.#stillFrameTime = isMoving(motion) ? 0 : this.#stillFrameTime + frameTime
      // Activity that begins late in a long slice gets additional time, once.
      if (motion.hasScript && milliseconds > STILL_SLICE && !isExtended) {
        isExtended = true
        left = bound - STILL_SLICE
      }
      // The response may cause work.
      isQuiet = !isReal && !motion.hasScript && !isMoving(motion)
    }
    // On a busy machine a frame may be late, so activity in either of the last two samples counts.
    return isMoving(motion) ? motion : before
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
      // What works or moves without a gain may never rest.
      const isLate = performance.now() > this.#usualEnd
      const gainsNothing = withoutGain >= QUIET_CHECKS && !this.#hasYoungWorker && (hadIdleTime || isLate)
      // Frame callbacks that run all the time, without new content, never rest.
      if (gainsNothing && withScript >= QUIET_CHECKS) return motion
      if (gainsNothing && (withoutWork >= QUIET_CHECKS || isLate)) {
        if (!this.#motion.hasCanvas || isLate) return motion
        const before = picture
        picture = await takeSmallPicture(this.#work)
        if (before !== undefined && (await isSamePicture(this.#work, before, picture))) return motion
      }
      const { document } = tab.lifecycle
      const [checkedAt, processSeconds] = [performance.now(), this.#motion.processSeconds]
      await passTime(this.#work, REAL_SLICE)
      if (tab.lifecycle.isMoving || tab.lifecycle.document !== document) await this.#arrive()
      const wasIdle = idleTime?.isOver !== false
      motion = await this.#sample(this.#work.clock ? REAL_SLICE : 0, this.#work.plan.stabilityMilliseconds)
      const isGaining =
        motion.hasGrown || tab.lifecycle.trafficAt > checkedAt || tab.lifecycle.hasUnanswered(checkedAt - REQUEST_MILLISECONDS)
      const isWorking = motion.hasScript || isMoving(motion) || this.#motion.processSeconds - processSeconds >= BUSY_SECONDS
      withoutGain = isGaining ? 0 : withoutGain + 1
      withoutWork = isWorking ? 0 : withoutWork + 1
      withScript = motion.hasScript ? withScript + 1 : 0
      // What was added during the idle time is in this sample.
      hadIdleTime = !isGaining && (hadIdleTime || wasIdle)
      if (isGaining && idleTime) idleTime = new IdleTime(this.#work)
      // In a tall window, the browser may expect a frame that never comes. Another one ends that wait, and idle time follows.
      if (idleTime?.isOver === false && withoutGain > 0 && withoutGain % QUIET_CHECKS === 0) await AwaitedFrame.request(this.#work)
    }
    return motion
  }

  /** True if the page gained content or received data to the end of the wait. */
  isCutShort = false
  /** True if the scripts of the page took longer than its timers allow, and were stopped. */
  hasOverrun = false

  /** Adds a warning if the wait took longer than usual or missed something. */
  reportTime(): void {
    const { tab, findings } = this.#work
    const now = performance.now()
    const pending = tab.lifecycle.pendingContent(now - PENDING_MILLISECONDS)
    const isReceiving = now - tab.lifecycle.trafficAt < QUIET_CHECKS * REAL_SLICE
    const what = isReceiving ? 'receiving data' : this.#isGrowing() ? 'gaining content' : undefined
    this.isCutShort = now > this.#until && what !== undefined
    if (pending.length > 0) findings.warnings.push(`the page was still waiting for ${describe(pending)} when the picture was taken`)
    if (this.isCutShort) findings.warnings.push(`the page was still ${what} when the picture was taken`)
    else if (Math.max(this.#grown.real, tab.lifecycle.trafficAt) > this.#usualEnd + LATE_MILLISECONDS) {
      findings.warnings.push(`the wait took ${Math.round(now - this.#started)} ms, because the page was gaining content or receiving data`)
    }
  }

  async restMarquees(): Promise<void> {
    if (this.#motion.hasMarquee) await restMarquees(this.#work)
  }

  /** If the page's clock is behind real time, stops the page's scripts: the browser would draw late. Printing needs no frames. */
  async hasStoppedScripts(motion: Motion): Promise<boolean> {
    const { plan, signal, findings } = this.#work
    const stop = () => stopScripts(this.#work)
    if (plan.pages) return false
    if (this.#isTooSlow) await stop()
    else if (!this.#work.clock || !(await this.#clock?.catchUp(stop, signal))) return false
    // Else the clock has waited for a request, or the scripts have ended.
    this.hasOverrun = !this.#isWaiting() && (motion.hasScript || isMoving(motion))
    if (this.hasOverrun) findings.warnings.push(STOPPED)
    return true
  }

  /**
   * Waits until the page becomes stable in real time, on which frames and workers run: two successive screenshots show the same, and frame time has
   * advanced between them. Returns the areas that do not rest. What moved in the last run of the schedule is waited for only briefly.
   */
  async waitForRest(): Promise<WindowShare[]> {
    const began = performance.now()
    const until = this.#work.plan.stabilityPicturesMilliseconds
    const seen: WindowShare[][] = []
    let before = await takeSmallPicture(this.#work)
    for (;;) {
      await this.#passBetweenPictures()
      // Without a new frame, the screenshots would be equal on a busy machine.
      const frameTime = await this.#drawFrame()
      const after = await takeSmallPicture(this.#work)
      const { moved, isKnown } = await findMoved(this.#work, before, after)
      const now = performance.now()
      const isOver = (this.#work.clock instanceof FrameClock ? this.#page : now - this.#started) > until
      if (moved.length === 0 && (frameTime > 0 || isOver)) return []
      seen.push(moved)
      const isExpected = isKnown && moved.length > 0 && seen.length >= KNOWN_PAIRS && now - began > KNOWN_MILLISECONDS
      // What came to rest meanwhile is in the first half.
      if (isExpected || isOver) return mergeAreas(seen.slice(Math.floor(seen.length / 2)).flat())
      before = after
    }
  }

  async #passBetweenPictures(): Promise<void> {
    const { clock, signal } = this.#work
    if (!(clock instanceof FrameClock)) return passTime(this.#work, PICTURES_MILLISECONDS)
    for (let passed = 0; passed < PICTURES_MILLISECONDS; passed += TICK) {
      this.#page += (await clock.advance(TICK, passed + TICK >= PICTURES_MILLISECONDS, signal)).milliseconds
    }
  }

  /**
   * Watches frame callbacks that have changed nothing. They may belong to a fade whose time stands still: frame time may come from the page's clock,
   * which is ahead, and then stands still until real time has caught up. Returns the last activity.
   */
  async #watchFrames(first: Motion): Promise<Motion> {
    let motion = first
    while (motion.hasScript && !isMoving(motion) && this.#stillFrameTime < STILL_FRAME_MILLISECONDS && performance.now() < this.#usualEnd) {
      this.#stillFrameTime += await this.#drawFrame()
      motion = await this.#sample(0, 0)
    }
    return motion
  }

  /** Page time between two frames. Pages that are slow to draw get fewer frames, as in real time. Undefined: no frame is needed. */
  #sliceFor(motion: Motion): number | undefined {
    if (this.#isSlow) return SLOW_SLICE
    const usual = isMoving(motion) ? MOVING_SLICE : motion.hasScript ? RUNNING_SLICE : undefined
    return usual && Math.min(STILL_SLICE, Math.max(usual, 2 * this.#frameMilliseconds))
  }

  /** Waits for a frame. Returns by how much its time is later than that of the frame before. */
  async #drawFrame(): Promise<number> {
    const { clock, signal } = this.#work
    if (clock instanceof FrameClock) return (await clock.advance(TICK, true, signal)).milliseconds
    const started = performance.now()
    const frame = await AwaitedFrame.request(this.#work)
    const time = await frame.drawn(Math.max(MIN_FRAME_MILLISECONDS, Math.min(FRAME_MILLISECONDS, this.#usualEnd - started)))
    this.#frameMilliseconds = performance.now() - started
    const before = this.#frameTime
    this.#frameTime = time
    this.#frames += 1
    // The first frame of another document counts from the beginning.
    return time === undefined || before === undefined ? 0 : Math.max(0, time - before)
  }

  async #advance(milliseconds: number): Promise<number> {
    const started = performance.now()
    const until = this.#isGrowing() || this.#isFetching() ? this.#until : this.#usualEnd
    const passed = (await this.#clock?.advance(milliseconds, () => this.#isWaiting(), until, this.#work.signal)) ?? 0
    this.#isSlow = !this.#isWaiting() && performance.now() - started > Math.max(passed, milliseconds)
    this.#page += passed
    return passed
  }

  /** Lets page time and real time pass while the page waits for a request. That does not use up its page time. */
  async #passReal(): Promise<void> {
    await passTime(this.#work, REAL_SLICE)
    this.#page += REAL_SLICE
  }

  async #sample(milliseconds: number, left: number): Promise<Motion> {
    this.#sampledAt = performance.now()
    const motion = await this.#motion.sample(milliseconds, left)
    if (motion.hasScript) this.#scriptAt = performance.now()
    if (motion.hasGrown) this.#grown = { page: this.#page, real: performance.now() }
    return motion
  }

  /** Whether page time is left, a request is pending, or the page gains content. */
  #isDue(left: number, usualEnd = this.#usualEnd, until = this.#until): boolean {
    const now = performance.now()
    if (now < usualEnd && (left > 0 || this.#isWaiting())) return true
    if (now > until) return false
    return this.#isFetching() || (this.#page < this.#work.plan.stabilityMaxMilliseconds && this.#isGrowing())
  }

  /** Whether the page requests something new, or got it since the last sample: one response may lead to the next request. */
  #isFetching(): boolean {
    const { lifecycle } = this.#work.tab
    const now = performance.now()
    return lifecycle.hasNewRequests(now - REQUEST_MILLISECONDS, now) || lifecycle.newContentAt > this.#sampledAt
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
