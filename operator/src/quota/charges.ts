import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/record'
import { RetryableError } from '../controller/errors.ts'
import type { ChargeWanted } from './decide.ts'

/** What came of the wish to charge: `missing` is an account that does not exist. */
export type ChargeAnswer = 'charged' | 'quota' | 'suspended' | 'missing'

/** Takes a unit for a Screenshot that no gateway has paid for. Repeating it charges once. */
export type Charge = (shot: Screenshot) => Promise<ChargeAnswer>

/** A worker waits for the answer: it has others to serve. */
const ANSWER_MILLISECONDS = 10_000

interface Pending extends ChargeWanted {
  promise: Promise<ChargeAnswer>
  resolve: (answer: ChargeAnswer) => void
  reject: (error: Error) => void
}

/** Screenshots that wait for their account to be charged, by account. Many ride on one update of its count. */
export class Charges {
  readonly #pending = new Map<string, Map<string, Pending>>()
  readonly #onAsked: (account: string) => void

  constructor(onAsked: (account: string) => void) {
    this.#onAsked = onAsked
  }

  /** @throws RetryableError when no answer comes in time; the unit may be taken nevertheless, and asking again finds it taken */
  async ask(shot: Screenshot): Promise<ChargeAnswer> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new RetryableError('the account could not be charged in time')), ANSWER_MILLISECONDS)
    try {
      return await Promise.race([this.#ask(shot), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  #ask(shot: Screenshot): Promise<ChargeAnswer> {
    const account = accountOf(shot)
    const { uid, name } = shot.metadata
    const waiting = this.#pending.get(account) ?? new Map<string, Pending>()
    this.#pending.set(account, waiting)
    const pending = waiting.get(uid) ?? { uid, name, ...Promise.withResolvers<ChargeAnswer>() }
    waiting.set(uid, pending)
    // Nobody may be waiting any more when it fails.
    pending.promise.catch(() => {})
    this.#onAsked(account)
    return pending.promise
  }

  /** The term ends: whoever waits must not hold it up. */
  giveUp(): void {
    const all = [...this.#pending.values()].flatMap((waiting) => [...waiting.values()])
    this.#pending.clear()
    for (const { reject } of all) reject(new RetryableError('no longer the leader'))
  }

  pendingOf(account: string): Pending[] {
    return [...(this.#pending.get(account)?.values() ?? [])]
  }

  answer(account: string, pending: Pending, answer: ChargeAnswer): void {
    const waiting = this.#pending.get(account)
    waiting?.delete(pending.uid)
    if (waiting?.size === 0) this.#pending.delete(account)
    pending.resolve(answer)
  }
}
