/**
 * Keeps what this leader knows about the captures of the runners. DispatchTracker holds the latest response about each attempt, and
 * CaptureWatcher waits for the end of each running capture. Kept in memory: a new leader starts empty and asks the runners.
 */

import { type GivenUp, MAX_WAIT_SECONDS } from '@tintype/crds/dispatch/dispatch'
import type { CaptureResponse, RunnerAddress, RunnerClient } from '../runner/runner-client.ts'

/** The latest response of a runner about one attempt. */
export interface LastResponse {
  attempt: number
  podUid: string
  /** resourceVersion of the pod at that time. A change of the pod is a reason to ask again. */
  podVersion: string | undefined
  response: CaptureResponse
  givenUp?: GivenUp | undefined
  delivered: boolean
  /** Epoch milliseconds. */
  at: number
}

/** Which attempt on which pod. */
export type AttemptId = Pick<LastResponse, 'attempt' | 'podUid'>

/** What this leader has sent to runners and received from them, by the Screenshot's key. */
export class DispatchTracker {
  readonly #responses = new Map<string, LastResponse>()
  readonly #own = new Map<string, AttemptId>()

  /** Notes that this leader made the claim, so only it will send the order. */
  noteClaim(key: string, id: AttemptId): void {
    this.#own.set(key, id)
  }

  hasClaimed(key: string, { attempt, podUid }: AttemptId): boolean {
    const own = this.#own.get(key)
    return own?.attempt === attempt && own.podUid === podUid
  }

  /** The latest response about this attempt; earlier attempts are not kept. */
  find(key: string, { attempt, podUid }: AttemptId): LastResponse | undefined {
    const last = this.#responses.get(key)
    return last?.attempt === attempt && last.podUid === podUid ? last : undefined
  }

  note(key: string, last: LastResponse): void {
    this.#responses.set(key, last)
  }

  /** Marks the latest response as outdated. */
  outdate(key: string): void {
    const last = this.#responses.get(key)
    if (last) this.#responses.set(key, { ...last, podVersion: undefined })
  }

  forget(key: string): void {
    this.#responses.delete(key)
    this.#own.delete(key)
  }
}

/** One attempt of one Screenshot at its runner. */
export interface WatchedCapture extends AttemptId {
  key: string
  uid: string
  address: RunnerAddress
}

export interface CaptureWatcherOptions {
  client: Pick<RunnerClient, 'getCapture' | 'cancel'>
  /** Called when the capture ended without a report, or its runner does not respond. */
  onChange: (key: string) => void
  /** Called when a runner accepts another order while it takes and stores the picture of this one. */
  onTaken: (key: string, podUid: string) => void
  /** False once the term has ended. */
  mayStart: () => boolean
  now: () => Date
}

/** A response that comes sooner than this means that the runner does not support long polling. */
const WAITED_MILLISECONDS = 1_000

/**
 * Long-polls each working runner, so that the end or the crash of a capture is noticed at once and not at the next poll. It only triggers a
 * reconcile, which asks the runner again.
 */
export class CaptureWatcher {
  readonly #options: CaptureWatcherOptions
  readonly #open = new Map<string, WatchedCapture>()

  constructor(options: CaptureWatcherOptions) {
    this.#options = options
  }

  /** Starts to watch an attempt, unless it is watched already. */
  watch(watched: WatchedCapture): void {
    const { key, attempt, podUid } = watched
    const open = this.#open.get(key)
    if (open?.attempt === attempt && open.podUid === podUid) return
    this.#open.set(key, watched)
    void this.#wait(watched)
  }

  /**
   * Cancels an attempt whose pod is lost to the cluster. The process of a pod that was force-deleted may run on until its kubelet stops it, and
   * would write its file over the next attempt's. The response is not awaited.
   */
  giveUp(key: string): void {
    const watched = this.#open.get(key)
    if (!watched) return
    this.#open.delete(key)
    void this.#options.client.cancel(watched.address, watched.uid)
  }

  async #wait(watched: WatchedCapture): Promise<void> {
    const { key, uid, address, attempt, podUid } = watched
    const { client, onChange, onTaken, mayStart, now } = this.#options
    const isCurrent = () => this.#open.get(key) === watched && mayStart()
    let until: 'taken' | 'finished' = 'taken'
    while (isCurrent()) {
      const polledAt = now().getTime()
      const { response, isTaken = false } = await client.getCapture(address, uid, attempt, { seconds: MAX_WAIT_SECONDS, until })
      // Reports arrive through the watch of Screenshots.
      if (isCurrent() && (response === 'absent' || response === 'silent')) onChange(key)
      if (response !== 'running') break
      if (isTaken && until === 'taken') {
        until = 'finished'
        if (isCurrent()) onTaken(key, podUid)
      } else if (now().getTime() - polledAt < WAITED_MILLISECONDS) break
    }
    if (this.#open.get(key) === watched) this.#open.delete(key)
  }
}
