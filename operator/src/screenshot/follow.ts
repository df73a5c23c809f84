import { MAX_WAIT_SECONDS } from '@tintype/crds/dispatch'
import type { RunnerAddress, RunnerClient } from '../runner/runner-client.ts'
import type { AttemptId } from './dispatches.ts'

/** What is asked of a runner: one attempt of one Screenshot. */
export interface Followed extends AttemptId {
  key: string
  uid: string
  address: RunnerAddress
}

export interface FollowerOptions {
  client: Pick<RunnerClient, 'ask' | 'cancel'>
  /** Called when the capture was ended without a report, or its runner does not answer: it is time to look. */
  onNews: (key: string) => void
  /** Called when a runner takes another order, while it takes and stores the picture of this one. */
  onTaken: (key: string, podUid: string) => void
  isLeader: () => boolean
  now: () => Date
}

/** An answer that came sooner than this was not waited for: the runner is of a version that does not know how. */
const WAITED_MILLISECONDS = 1_000

/**
 * Keeps a question open at each runner that works, so that its giving up, and its sudden death, are known at once and not at the next poll. What
 * the answer means is found out by asking again: this only says when.
 */
export class Follower {
  readonly #options: FollowerOptions
  readonly #open = new Map<string, Followed>()

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  /** Begins to follow an attempt, unless it is being followed. */
  follow(followed: Followed): void {
    const { key, attempt, podUid } = followed
    const open = this.#open.get(key)
    if (open?.attempt === attempt && open.podUid === podUid) return
    this.#open.set(key, followed)
    void this.#wait(followed)
  }

  /**
   * Ends an attempt whose pod is lost to the cluster. Its process may live on: a pod that was removed by force is stopped by its kubelet in its own
   * time, and would store its file where the next attempt's belongs. Nobody waits for the answer.
   */
  giveUp(key: string): void {
    const followed = this.#open.get(key)
    if (!followed) return
    this.#open.delete(key)
    void this.#options.client.cancel(followed.address, followed.uid)
  }

  async #wait(followed: Followed): Promise<void> {
    const { key, uid, address, attempt, podUid } = followed
    const { client, onNews, onTaken, isLeader, now } = this.#options
    const isOurs = () => this.#open.get(key) === followed && isLeader()
    let until: 'taken' | 'settled' = 'taken'
    while (isOurs()) {
      const asked = now().getTime()
      const { answer, isTaken = false } = await client.ask(address, uid, attempt, { seconds: MAX_WAIT_SECONDS, until })
      // A report is seen by the watch.
      if (isOurs() && (answer === 'absent' || answer === 'silent')) onNews(key)
      if (answer !== 'running') break
      if (isTaken && until === 'taken') {
        until = 'settled'
        if (isOurs()) onTaken(key, podUid)
      } else if (now().getTime() - asked < WAITED_MILLISECONDS) break
    }
    if (this.#open.get(key) === followed) this.#open.delete(key)
  }
}
