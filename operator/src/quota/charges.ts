import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/record'
import type { ChargeWanted } from './decide.ts'

/** What came of the wish to charge: `missing` is an account that does not exist. */
export type ChargeAnswer = 'charged' | 'quota' | 'suspended' | 'missing'

/** Takes a unit for a Screenshot that no gateway has paid for. Repeating it charges once. */
export type Charge = (shot: Screenshot) => Promise<ChargeAnswer>

interface Pending extends ChargeWanted {
  promise: Promise<ChargeAnswer>
  resolve: (answer: ChargeAnswer) => void
}

/** Screenshots that wait for their account to be charged, by account. Many ride on one update of its count. */
export class Charges {
  readonly #pending = new Map<string, Map<string, Pending>>()
  readonly #onAsked: (account: string) => void

  constructor(onAsked: (account: string) => void) {
    this.#onAsked = onAsked
  }

  ask(shot: Screenshot): Promise<ChargeAnswer> {
    const account = accountOf(shot)
    const { uid, name } = shot.metadata
    const waiting = this.#pending.get(account) ?? new Map<string, Pending>()
    this.#pending.set(account, waiting)
    const pending = waiting.get(uid) ?? { uid, name, ...Promise.withResolvers<ChargeAnswer>() }
    waiting.set(uid, pending)
    this.#onAsked(account)
    return pending.promise
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
