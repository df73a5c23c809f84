import type { CaptureOrder, CaptureState } from '@tintype/crds/dispatch'
import type { Logger } from 'pino'
import type { Attempt } from './capture.ts'
import { CaptureError } from './errors.ts'
import type { Outcome } from './outcome.ts'
import type { Reported } from './report.ts'

// The one capture that a runner makes at a time. It answers the operator's questions about it, about those whose report is still on its way, and
// about the last few that were reported. What it gives up without a report it forgets: the operator hears "unknown" and starts another attempt.

/** What a runner does with an order. */
export interface RunnerParts {
  capture: (order: CaptureOrder, cancelled: AbortSignal) => Promise<Attempt>
  report: (order: CaptureOrder, outcome: Outcome, cancelled: AbortSignal) => Promise<Reported>
  log: Logger
}

/** The answer to an order: `known` was here before, `busy` comes with the capture that is in the way. */
export interface Answer {
  kind: 'accepted' | 'known' | 'busy' | 'closed'
  state: CaptureState | undefined
}

interface Current {
  state: CaptureState
  cancel: AbortController
  ended: Promise<void>
}

/** An error that another pod may not meet is given up silently until this attempt; then it is the result. */
const LAST_ATTEMPT = 3
const REMEMBERED = 16

/** Takes orders, one at a time. */
export class Runner {
  readonly #parts: RunnerParts
  readonly #done: CaptureState[] = []
  readonly #reporting = new Set<Current>()
  #running: Current | undefined
  #isClosed = false
  #accepted = 0
  #accountName: string | undefined

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  /** Starts a capture unless it is known, another one runs, or the runner is closing. */
  accept(order: CaptureOrder): Answer {
    const known = this.find(order.uid)
    if (known?.attempt === order.attempt) return { kind: 'known', state: known }
    // One that is being reported is in nobody's way: the operator may know of its end before we hear that it does.
    if (this.#running) return { kind: 'busy', state: this.#running.state }
    if (this.#isClosed) return { kind: 'closed', state: undefined }
    const state: CaptureState = { uid: order.uid, attempt: order.attempt, state: 'running' }
    const cancel = new AbortController()
    const current: Current = { state, cancel, ended: Promise.resolve() }
    this.#running = current
    this.#accepted++
    this.#accountName = order.accountName
    current.ended = this.#carryOut(order, current)
    return { kind: 'accepted', state }
  }

  /** What a new leader must know of this pod's life: how many captures it began, and whose browser it has. */
  history(): { captures: number; accountName?: string } {
    return { captures: this.#accepted, ...(this.#accountName === undefined ? {} : { accountName: this.#accountName }) }
  }

  /** What is known of a capture. */
  find(uid: string): CaptureState | undefined {
    return this.#findLive(uid)?.state ?? this.#done.findLast((state) => state.uid === uid)
  }

  /** Ends a capture without a report. False: there is none of that uid. */
  cancel(uid: string): boolean {
    const live = this.#findLive(uid)
    live?.cancel.abort(new CaptureError('CANCELLED', 'the screenshot was deleted'))
    return live !== undefined
  }

  /** Takes no more orders; waits for what is under way, and gives it up when time is up. */
  async close(graceMilliseconds: number): Promise<void> {
    this.#isClosed = true
    const live = this.#live()
    const giveUp = () => {
      for (const { cancel } of live) cancel.abort(new Error('the runner stops'))
    }
    const timer = setTimeout(giveUp, graceMilliseconds)
    await Promise.all(live.map(({ ended }) => ended))
    clearTimeout(timer)
  }

  #live(): Current[] {
    return [...(this.#running ? [this.#running] : []), ...this.#reporting]
  }

  #findLive(uid: string): Current | undefined {
    return this.#live().find(({ state }) => state.uid === uid)
  }

  async #carryOut(order: CaptureOrder, current: Current): Promise<void> {
    const { state, cancel } = current
    const log = this.#parts.log.child({ name: order.name, uid: order.uid, attempt: order.attempt })
    try {
      const { outcome, error } = await this.#parts.capture(order, cancel.signal)
      logOutcome(log, outcome, error)
      if (error?.retryable && order.attempt < LAST_ATTEMPT) return
      state.state = 'reporting'
      this.#reporting.add(current)
      this.#running = undefined
      await this.#parts.report(order, outcome, cancel.signal)
      state.state = 'done'
      this.#remember(state)
    } catch (error) {
      if (cancel.signal.aborted) log.info({ reason: String(cancel.signal.reason) }, 'capture given up')
      else log.error({ err: error }, 'capture ended by a bug')
    } finally {
      this.#reporting.delete(current)
      if (this.#running === current) this.#running = undefined
    }
  }

  #remember(state: CaptureState): void {
    this.#done.push(state)
    if (this.#done.length > REMEMBERED) this.#done.shift()
  }
}

/** One line a capture. Neither address nor content: both are the client's. */
function logOutcome(log: Logger, { phase, result }: Outcome, error: CaptureError | undefined): void {
  const { processingMilliseconds: durationMilliseconds, fileSizeBytes, format, timings } = result
  const fields = { outcome: phase, code: error?.code, durationMilliseconds, fileSizeBytes, format, timings }
  if (error?.cause === undefined) log.info(fields, 'capture finished')
  else log.warn({ ...fields, err: error.cause }, 'capture finished')
}
