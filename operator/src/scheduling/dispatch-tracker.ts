import type { GivenUp } from '@tintype/crds/dispatch/dispatch'
import type { CaptureResponse } from '../runner/runner-client.ts'

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

/** What this leader has sent to runners and received from them, by the Screenshot's key. A new leader starts empty and asks the runners. */
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
