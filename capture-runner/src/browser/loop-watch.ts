import { pause } from '../runtime/race.ts'
import type { DevTools } from './devtools.ts'
import type { Tab } from './tab.ts'

// A virtual clock stands still during a task. A script that waits in a loop until Date.now() has advanced never ends, and the page never responds
// again. The browser answers Performance.getMetrics even during such a loop.

/** Milliseconds between two checks. */
const CHECK_MILLISECONDS = 250
/** How long a task may block the page. */
const BLOCKED_MILLISECONDS = 1_000
/** Processor time of the page's thread in which it must have been blocked. On a busy machine, short tasks take long. */
const THREAD_MILLISECONDS = 400

/** Notices scripts that may wait for a virtual clock in a loop, in all frames of one page. */
export class LoopWatch {
  readonly #tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>
  readonly #onLoop: (session: DevTools) => void
  /** Frames whose metrics are on. */
  readonly #measured = new WeakSet<DevTools>()
  readonly #stopped = new AbortController()
  #isStarted = false

  /** @param onLoop called with the session of a blocked frame, once for each loop */
  constructor(tab: Pick<Tab, 'session' | 'lifecycle' | 'foreignFrames'>, onLoop: (session: DevTools) => void) {
    this.#tab = tab
    this.#onLoop = onLoop
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
    // The metrics of a frame must be on before a loop begins.
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
      const isLoop = performance.now() - blocked.since >= BLOCKED_MILLISECONDS && thread - blocked.thread >= THREAD_MILLISECONDS
      if (!isLoop) continue
      this.#onLoop(session)
      return
    }
  }
}

/** Processor time that the frame's thread has used; undefined if the frame does not answer, because its thread waits or is about to change. */
async function threadMilliseconds(session: DevTools, signal: AbortSignal): Promise<number | undefined> {
  const asked = session.send('Performance.getMetrics').then(
    ({ metrics }) => metrics.find(({ name }) => name === 'ThreadTime')?.value,
    () => undefined,
  )
  const seconds = await Promise.race([asked, pause(CHECK_MILLISECONDS, signal)])
  return seconds === undefined ? undefined : seconds * 1_000
}
