import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { unitsOf } from '@tintype/crds/usage/usage'
import { RetryableError } from '../../controller-runtime/controller.ts'
import type { ChargeWanted } from './decide.ts'

/** Outcome of charging a Screenshot. `missing`: the account does not exist. */
export type ChargeOutcome = 'charged' | 'quota' | 'suspended' | 'missing'

/** Charges the units of a Screenshot that no gateway has charged. Idempotent. */
export type Charge = (shot: Screenshot) => Promise<ChargeOutcome>

/** Timeout of a charge. The reconcile worker is blocked while it waits. */
const TIMEOUT_MILLISECONDS = 10_000

interface Pending extends ChargeWanted {
  promise: Promise<ChargeOutcome>
  resolve: (outcome: ChargeOutcome) => void
  reject: (error: Error) => void
}

/** Screenshots that wait for their account to be charged, by account. One update of its usage can charge many. */
export class Charges {
  readonly #pending = new Map<string, Map<string, Pending>>()
  /** Called with the account of each request. Set at the start of a term. */
  onRequest: (account: string) => void = () => {}

  /** @throws RetryableError on time-out. The units may have been charged nevertheless; a second request does not charge them again. */
  async request(shot: Screenshot): Promise<ChargeOutcome> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new RetryableError('the account could not be charged in time')), TIMEOUT_MILLISECONDS)
    try {
      return await Promise.race([this.#request(shot), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  #request(shot: Screenshot): Promise<ChargeOutcome> {
    const account = accountOf(shot)
    const { uid, name } = shot.metadata
    const waiting = this.#pending.get(account) ?? new Map<string, Pending>()
    this.#pending.set(account, waiting)
    const pending = waiting.get(uid) ?? { uid, name, units: unitsOf(shot.spec), ...Promise.withResolvers<ChargeOutcome>() }
    waiting.set(uid, pending)
    // After the time-out no caller handles the rejection.
    pending.promise.catch(() => {})
    this.onRequest(account)
    return pending.promise
  }

  /** Rejects all pending charges at the end of the term. */
  rejectAll(): void {
    const all = [...this.#pending.values()].flatMap((waiting) => [...waiting.values()])
    this.#pending.clear()
    for (const { reject } of all) reject(new RetryableError('leadership lost'))
  }

  pendingOf(account: string): Pending[] {
    return [...(this.#pending.get(account)?.values() ?? [])]
  }

  resolve(account: string, pending: Pending, outcome: ChargeOutcome): void {
    const waiting = this.#pending.get(account)
    waiting?.delete(pending.uid)
    if (waiting?.size === 0) this.#pending.delete(account)
    pending.resolve(outcome)
  }
}
