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

/** Notices tasks that do not end, in all frames of one page. */
export class TaskWatch {
  readonly #tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>
  readonly #onLongTask: (session: DevTools) => void
  readonly #milliseconds: number
  /** Frames whose metrics are on. */
  readonly #measured = new WeakSet<DevTools>()
  readonly #stopped = new AbortController()
  #isStarted = false

  /**
   * @param onLongTask called with the session of a blocked frame, once for each task
   * @param milliseconds how long a task may block the page
   */
  constructor(
    tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>,
    onLongTask: (session: DevTools) => void,
    milliseconds = TASK_MILLISECONDS,
  ) {
    this.#tab = tab
    this.#onLongTask = onLongTask
    this.#milliseconds = milliseconds
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
      const sessions = [this.#tab.session, ...(await this.#tab.foreignFrames())]
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
    for (;;) {
      await pause(CHECK_MILLISECONDS, signal)
      // The browser delays commands during a navigation, perhaps forever.
      if (isOver || this.#tab.lifecycle.isMoving || this.#tab.lifecycle.document !== document) return
      const thread = await threadMilliseconds(session, signal)
      if (isOver) return
      if (thread === undefined) continue
      blocked ??= { since: performance.now() - CHECK_MILLISECONDS, thread }
      const isLong = performance.now() - blocked.since >= this.#milliseconds && thread - blocked.thread >= THREAD_MILLISECONDS
      if (!isLong) continue
      this.#onLongTask(session)
      return
    }
  }
}

/** Processor time that the frame's thread has used; undefined if the frame does not answer, because its thread waits or is about to change. */
async function threadMilliseconds(session: DevTools, signal: AbortSignal): Promise<number | undefined> {
  const asked = readMetric(session, 'ThreadTime').catch(() => undefined)
  const seconds = await Promise.race([asked, pause(CHECK_MILLISECONDS, signal)])
  return seconds === undefined ? undefined : seconds * 1_000
}
