import { type CaptureOrder, type CaptureState, type GivenUp, STOPPING } from '@tintype/crds/dispatch/dispatch'
import type { Logger } from 'pino'
import type { Attempt, CaptureEvents } from '../capture/capture.ts'
import type { Outcome } from '../capture/outcome.ts'
import { CaptureError } from '../runtime/errors.ts'
import type { Reported } from './report.ts'

// Runs captures, one at a time. It answers the operator's queries about the current capture, about those that are still being stored or reported, and
// about the last few that ended. For a capture given up without a report, it returns the reason, and the operator starts another attempt.

/** What the runner does with an order. */
export interface RunnerParts {
  capture: (order: CaptureOrder, canceled: AbortSignal, events: Required<CaptureEvents>) => Promise<Attempt>
  report: (order: CaptureOrder, outcome: Outcome, canceled: AbortSignal) => Promise<Reported>
  log: Logger
}

/** Result of `accept`. `known`: this attempt was accepted before. `busy`: `state` is that of the blocking capture. */
export interface AcceptResult {
  kind: 'accepted' | 'known' | 'busy' | 'closed'
  state: CaptureState | undefined
}

interface Current {
  state: CaptureState
  cancel: AbortController
  /** Resolves when its screenshot is being taken, or it has ended without one. */
  taken: PromiseWithResolvers<void>
  /** Resolves when its screenshot has been taken and compared. */
  drawn: PromiseWithResolvers<void>
  /** Resolves when it is no longer running; its report may still be pending. */
  finished: PromiseWithResolvers<void>
  ended: Promise<void>
}

/** Up to this attempt, a retryable error is given up without a report. In this attempt it is the result. */
const LAST_ATTEMPT = 3
const REMEMBERED = 16
/** Maximum number of captures that are still being stored when another begins. Each is held in memory, and the storage may be unavailable. */
const MAX_STORING = 2

/** How long a second attempt waits for the picture of another capture. */
const ALONE_MILLISECONDS = 10_000

/** The reason of captures that end because the pod shuts down. */
class ShutdownError extends Error {}

/** Accepts orders, one at a time. */
export class Runner {
  readonly #parts: RunnerParts
  readonly #done: CaptureState[] = []
  readonly #givenUp: GivenUp[] = []
  /** Captures after their page is loaded: being drawn, stored or reported. */
  readonly #leaving = new Set<Current>()
  #running: Current | undefined
  #isClosed = false
  #accepted = 0
  #accountName: string | undefined

  constructor(parts: RunnerParts) {
    this.#parts = parts
  }

  /** Starts a capture unless it is known, another one runs, or the runner is closing. */
  accept(order: CaptureOrder): AcceptResult {
    const known = this.find(order.uid)
    if (known?.attempt === order.attempt) return { kind: 'known', state: known }
    // A capture that is being reported does not block, because the operator may see its end before the API server responds to us.
    const blocking = this.#running ?? this.#storing()[MAX_STORING - 1]
    if (blocking) return { kind: 'busy', state: blocking.state }
    if (this.#isClosed) return { kind: 'closed', state: undefined }
    const state: CaptureState = { uid: order.uid, attempt: order.attempt, state: 'running' }
    const cancel = new AbortController()
    const [taken, drawn, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const current: Current = { state, cancel, taken, drawn, finished, ended: Promise.resolve() }
    this.#running = current
    this.#accepted++
    this.#accountName = order.accountName
    current.ended = this.#runCapture(order, current)
    return { kind: 'accepted', state }
  }

  /** For a new leader of the operator: how many captures this pod has started, and the account of its browser. */
  history(): { captures: number; accountName?: string } {
    return { captures: this.#accepted, ...(this.#accountName === undefined ? {} : { accountName: this.#accountName }) }
  }

  /** The state of a capture; undefined if it is unknown. */
  find(uid: string): CaptureState | undefined {
    return this.#findLive(uid)?.state ?? this.#done.findLast((state) => state.uid === uid)
  }

  /** Why the last attempt of a capture was given up; undefined if it was not. */
  findGivenUp(uid: string): GivenUp | undefined {
    return this.#givenUp.findLast((given) => given.uid === uid)
  }

  /** Waits until a capture is no longer running (or until its screenshot is being taken), at most `milliseconds`. */
  async whenFinished(uid: string, milliseconds: number, until: 'taken' | 'finished' = 'finished'): Promise<void> {
    const live = this.#findLive(uid)
    if (live?.state.state !== 'running') return
    await raceTime(live[until].promise, milliseconds)
  }

  /** Cancels a capture without a report. Returns false if it is unknown. */
  cancel(uid: string): boolean {
    const live = this.#findLive(uid)
    live?.cancel.abort(new CaptureError('CANCELLED', 'the screenshot was deleted'))
    return live !== undefined
  }

  /** Accepts no more orders. Waits for pending captures, and gives them up after the grace period. */
  async close(graceMilliseconds: number): Promise<void> {
    this.#isClosed = true
    const live = this.#live()
    const giveUp = () => {
      for (const { cancel } of live) cancel.abort(new ShutdownError('the runner is shutting down'))
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

  async #runCapture(order: CaptureOrder, current: Current): Promise<void> {
    const { state, cancel, taken, finished } = current
    const log = this.#parts.log.child({ name: order.name, uid: order.uid, attempt: order.attempt })
    try {
      const { outcome, error } = await this.#capture(order, current)
      logOutcome(log, outcome, error)
      if (error?.retryable && order.attempt < LAST_ATTEMPT) return this.#giveUp(state, error.givenUpAs ?? error.code, error.message)
      this.#release(current)
      state.state = 'reporting'
      finished.resolve()
      await this.#parts.report(order, outcome, cancel.signal)
      state.state = 'done'
      this.#remember(state)
    } catch (error) {
      const { aborted, reason } = cancel.signal
      if (reason instanceof ShutdownError) this.#giveUp(state, STOPPING, reason.message)
      if (aborted) log.info({ reason: String(reason) }, 'capture given up')
      else log.error({ err: error }, 'capture failed unexpectedly')
    } finally {
      this.#leaving.delete(current)
      if (this.#running === current) this.#running = undefined
      taken.resolve()
      finished.resolve()
    }
  }

  /**
   * Captures. If the first attempt failed, no other capture uses the browser meanwhile, so that the loss of this page or of the pod can only be its own
   * fault.
   */
  async #capture(order: CaptureOrder, current: Current): Promise<Attempt> {
    const isAlone = order.attempt > 1
    const others = isAlone ? [...this.#leaving] : []
    if (others.length > 0) await raceTime(Promise.all(others.map(({ drawn }) => drawn.promise)), ALONE_MILLISECONDS)
    const onTaken = () => {
      current.drawn.resolve()
      this.#release(current)
    }
    try {
      return await this.#parts.capture(order, current.cancel.signal, {
        onPageReady: isAlone ? () => {} : () => this.#release(current),
        onTaken,
      })
    } finally {
      current.drawn.resolve()
    }
  }

  /** The page of this capture only needs its screenshot, so the next capture may begin. */
  #release(current: Current): void {
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

/** Waits for the promise, at most this long. */
async function raceTime(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const time = Promise.withResolvers<void>()
  const timer = setTimeout(time.resolve, milliseconds)
  await Promise.race([promise, time.promise])
  clearTimeout(timer)
}

/** Logs one line per capture. It has no URL and no content, because both are the client's. */
function logOutcome(log: Logger, { phase, result }: Outcome, error: CaptureError | undefined): void {
  const { processingMilliseconds: durationMilliseconds, fileSizeBytes, format, timings } = result
  const fields = { outcome: phase, code: error?.code, durationMilliseconds, fileSizeBytes, format, timings }
  if (error?.cause === undefined) log.info(fields, 'capture finished')
  else log.warn({ ...fields, err: error.cause }, 'capture finished')
}
