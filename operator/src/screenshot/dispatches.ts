import type { GivenUp } from '@tintype/crds/dispatch'
import type { CaptureAnswer } from '../runner/runner-client.ts'

// What this leader has said to runners and heard from them, by the Screenshot's key. A new leader begins with nothing and asks.

/** The last that was heard about one attempt. */
export interface Heard {
  attempt: number
  podUid: string
  /** Version of the pod's object at that time: a change of the pod is a reason to ask again. */
  podVersion: string | undefined
  answer: CaptureAnswer
  givenUp?: GivenUp | undefined
  delivered: boolean
  /** Epoch milliseconds. */
  at: number
}

/** Which attempt on which pod. */
export type AttemptId = Pick<Heard, 'attempt' | 'podUid'>

/** See the head of this file. */
export class Dispatches {
  readonly #heard = new Map<string, Heard>()
  readonly #own = new Map<string, AttemptId>()

  /** This leader has made the claim, and nobody else will send its order. */
  noteClaim(key: string, id: AttemptId): void {
    this.#own.set(key, id)
  }

  hasClaimed(key: string, { attempt, podUid }: AttemptId): boolean {
    const own = this.#own.get(key)
    return own?.attempt === attempt && own.podUid === podUid
  }

  /** What was heard of this very attempt; of others nothing is remembered. */
  find(key: string, { attempt, podUid }: AttemptId): Heard | undefined {
    const heard = this.#heard.get(key)
    return heard?.attempt === attempt && heard.podUid === podUid ? heard : undefined
  }

  note(key: string, heard: Heard): void {
    this.#heard.set(key, heard)
  }

  /** What was heard last may not hold any more. */
  outdate(key: string): void {
    const heard = this.#heard.get(key)
    if (heard) this.#heard.set(key, { ...heard, podVersion: undefined })
  }

  forget(key: string): void {
    this.#heard.delete(key)
    this.#own.delete(key)
  }
}
