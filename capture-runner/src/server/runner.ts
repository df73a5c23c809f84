import { type CaptureOrder, type CaptureState, type GivenUp, STOPPING } from '@tintype/crds/dispatch/dispatch'
import type { Logger } from 'pino'
import type { Attempt } from '../capture/capture.ts'
import type { Outcome } from '../capture/outcome.ts'
import { CaptureError } from '../runtime/errors.ts'
import type { Reported } from './report.ts'

// The one capture that a runner makes at a time. It answers the operator's questions about it, about those whose file or report is still on its way,
// and about the last few that ended. Of what it gives up without a report it says so and why: the operator starts another attempt.

/** What a runner does with an order. */
export interface RunnerParts {
  /** Says when the next capture may begin. */
  capture: (order: CaptureOrder, cancelled: AbortSignal, onPageReady: () => void) => Promise<Attempt>
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
  /** When its picture is being taken, or it has ended without one. */
  taken: PromiseWithResolvers<void>
  /** When it is not running any more, though it may still be reported. */
  settled: PromiseWithResolvers<void>
  ended: Promise<void>
}

/** An error that another pod may not meet is given up silently until this attempt; then it is the result. */
const LAST_ATTEMPT = 3
const REMEMBERED = 16
/** Pictures that may be on their way when a capture begins: each is held in memory, and the store may be away for a long time. */
const MAX_STORING = 2

/** The pod was asked to go. */
class Stopping extends Error {}

/** Takes orders, one at a time. */
export class Runner {
  readonly #parts: RunnerParts
  readonly #done: CaptureState[] = []
  readonly #givenUp: GivenUp[] = []
  /** Those whose page is loaded: their picture is being drawn or stored, or their end reported. */
  readonly #leaving = new Set<Current>()
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
    const inTheWay = this.#running ?? this.#storing()[MAX_STORING - 1]
    if (inTheWay) return { kind: 'busy', state: inTheWay.state }
    if (this.#isClosed) return { kind: 'closed', state: undefined }
    const state: CaptureState = { uid: order.uid, attempt: order.attempt, state: 'running' }
    const cancel = new AbortController()
    const [taken, settled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const current: Current = { state, cancel, taken, settled, ended: Promise.resolve() }
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

  /** Why the last attempt of a capture was given up; undefined when none was. */
  findGivenUp(uid: string): GivenUp | undefined {
    return this.#givenUp.findLast((given) => given.uid === uid)
  }

  /** Waits until a capture is not running, or has its picture, no longer than that. */
  async whenSettled(uid: string, milliseconds: number, until: 'taken' | 'settled' = 'settled'): Promise<void> {
    const live = this.#findLive(uid)
    if (live?.state.state !== 'running') return
    const time = Promise.withResolvers<void>()
    const timer = setTimeout(time.resolve, milliseconds)
    await Promise.race([live[until].promise, time.promise])
    clearTimeout(timer)
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
      for (const { cancel } of live) cancel.abort(new Stopping('the runner was asked to go'))
    }
    const timer = setTimeout(giveUp, graceMilliseconds)
    await Promise.all(live.map(({ ended }) => ended))
    clearTimeout(timer)
  }

  #live(): Current[] {
    return [...(this.#running ? [this.#running] : []), ...this.#leaving]
  }

  #storing(): Current[] {
    return [...this.#leaving].filter(({ state }) => state.state === 'running')
  }

  #findLive(uid: string): Current | undefined {
    return this.#live().find(({ state }) => state.uid === uid)
  }

  async #carryOut(order: CaptureOrder, current: Current): Promise<void> {
    const { state, cancel, taken, settled } = current
    const log = this.#parts.log.child({ name: order.name, uid: order.uid, attempt: order.attempt })
    try {
      const { outcome, error } = await this.#parts.capture(order, cancel.signal, () => this.#leave(current))
      logOutcome(log, outcome, error)
      if (error?.retryable && order.attempt < LAST_ATTEMPT) return this.#giveUp(state, error.code, error.message)
      this.#leave(current)
      state.state = 'reporting'
      settled.resolve()
      await this.#parts.report(order, outcome, cancel.signal)
      state.state = 'done'
      this.#remember(state)
    } catch (error) {
      const { aborted, reason } = cancel.signal
      if (reason instanceof Stopping) this.#giveUp(state, STOPPING, reason.message)
      if (aborted) log.info({ reason: String(reason) }, 'capture given up')
      else log.error({ err: error }, 'capture ended by a bug')
    } finally {
      this.#leaving.delete(current)
      if (this.#running === current) this.#running = undefined
      taken.resolve()
      settled.resolve()
    }
  }

  /** Its page needs nothing any more but to be drawn: the next one may begin. */
  #leave(current: Current): void {
    if (this.#running !== current) return
    this.#running = undefined
    this.#leaving.add(current)
    current.state.isTaken = true
    current.taken.resolve()
  }

  #giveUp({ uid, attempt }: CaptureState, code: string, message: string): void {
    this.#givenUp.push({ uid, attempt, code, message })
    if (this.#givenUp.length > REMEMBERED) this.#givenUp.shift()
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
