import { pause } from '../runtime/race.ts'
import { type DevTools, readMetric } from './devtools.ts'
import type { Tab } from './tab.ts'

// While a task runs, the page responds to nothing, not even to a screenshot. The browser answers Performance.getMetrics even then.

/** Milliseconds between two checks. */
const CHECK_MILLISECONDS = 250
/** How long a task may block the page. */
export const TASK_MILLISECONDS = 8_000
/** Processor time of the page's thread meanwhile. A thread without it waits, for example for a synchronous request. */
const THREAD_MILLISECONDS = 400
/** How long a page may wait for its own browser: as long as for a frame. With a pending request, which may be synchronous, it may wait longer. */
const HUNG_MILLISECONDS = 6_000
const WAITING_FACTOR = 2
/** Processor time between two checks with which a page does not hang. */
const WORK_MILLISECONDS = 20

/** What a watch has found. */
export interface TaskEvents {
  /** A task has blocked a frame, which has this session, for too long. Called once for each task. */
  onLongTask: (session: DevTools) => void
  /** The page neither responds nor works, so the browser hangs. */
  onHung: () => void
}

/** Notices tasks that do not end, in all frames of one page, and a page that hangs. */
export class TaskWatch {
  readonly #tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>
  readonly #events: TaskEvents
  readonly #limits: { task: number; hung: number }
  /** Frames whose metrics are on. */
  readonly #measured = new WeakSet<DevTools>()
  readonly #stopped = new AbortController()
  #isStarted = false

  /** @param limits milliseconds for which a task may block the page, and for which the page may hang */
  constructor(
    tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>,
    events: TaskEvents,
    limits = { task: TASK_MILLISECONDS, hung: HUNG_MILLISECONDS },
  ) {
    this.#tab = tab
    this.#events = events
    this.#limits = limits
    this.#measured.add(tab.session)
  }

  /** Watches until the signal aborts, or until {@link stop}. Later calls do nothing. */
  start(signal: AbortSignal): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#run(AbortSignal.any([signal, this.#stopped.signal])).catch(() => {})
  }

  stop(): void {
    this.#stopped.abort(new Error('the capture is over'))
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(CHECK_MILLISECONDS, signal)
      const sessions = [this.#tab.session, ...this.#tab.foreignFrames()]
      await Promise.all(sessions.map((session) => this.#check(session, signal)))
    }
  }

  /** Returns when the frame responds. */
  async #check(session: DevTools, signal: AbortSignal): Promise<void> {
    // The metrics of a frame must be on before a task blocks it.
    if (!this.#measured.has(session)) session.send('Performance.enable').catch(() => {})
    this.#measured.add(session)
    let isOver = false
    const end = () => {
      isOver = true
    }
    session.send('Runtime.evaluate', { expression: '0' }).then(end, end)
    const { document } = this.#tab.lifecycle
    let blocked: { since: number; thread: number } | undefined
    // The processor time when the frame was last seen to work. A frame whose process does not answer either works no more.
    let worked = { at: performance.now(), thread: Number.NEGATIVE_INFINITY }
    for (;;) {
      await pause(CHECK_MILLISECONDS, signal)
      // The browser delays commands during a navigation, perhaps forever.
      if (isOver || this.#tab.lifecycle.isMoving || this.#tab.lifecycle.document !== document) return
      const thread = await threadMilliseconds(session, signal)
      if (isOver) return
      const now = performance.now()
      if (thread !== undefined && thread - worked.thread >= WORK_MILLISECONDS) worked = { at: now, thread }
      const mayWait = this.#tab.lifecycle.hasPendingRequests(Number.NEGATIVE_INFINITY, now)
      const isHung = now - worked.at >= this.#limits.hung * (mayWait ? WAITING_FACTOR : 1)
      if (isHung && session === this.#tab.session) return this.#events.onHung()
      if (thread === undefined) continue
      blocked ??= { since: now - CHECK_MILLISECONDS, thread }
      if (now - blocked.since >= this.#limits.task && thread - blocked.thread >= THREAD_MILLISECONDS)
        return this.#events.onLongTask(session)
    }
  }
}

/** Processor time that the frame's thread has used; undefined if the frame does not answer, because its thread waits or is about to change. */
async function threadMilliseconds(session: DevTools, signal: AbortSignal): Promise<number | undefined> {
  const asked = readMetric(session, 'ThreadTime').catch(() => undefined)
  const seconds = await Promise.race([asked, pause(CHECK_MILLISECONDS, signal)])
  return seconds === undefined ? undefined : seconds * 1_000
}
