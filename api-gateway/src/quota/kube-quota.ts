import { setTimeout as sleep } from 'node:timers/promises'
import { accountUsages } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import { Reflector, type ReflectorMetrics } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import type { Account, AccountUsage } from '@tintype/crds/kinds/account'
import { limitsOfPlan, type Plans, toLimits } from '@tintype/crds/usage/plans'
import { type DailyUsage, type Outcome, toUsageFacts, UsageDraft } from '@tintype/crds/usage/usage'
import { unavailable } from '../common/errors.ts'
import type { QuotaMetrics, ReservationOutcome } from '../metrics/metrics.ts'
import { throwApiError, toApiError } from '../store/kube-records.ts'
import type { Grant, LimitFacts, QuotaStore, ReserveRequest } from '../store/ports.ts'
import type { GatewayLease } from './gateway-lease.ts'
import { QuotaLedger, type UsageStore } from './quota-ledger.ts'

// rbac: tintype.dev/accountusages get,list,watch
// rbac: tintype.dev/accountusages/status update

const WRITE_MILLISECONDS = 2_000
const READ_MILLISECONDS = 2_000
/** How long a request waits until the operator has initialized the AccountUsage of a new account. */
const NEW_ACCOUNT_MILLISECONDS = 3_000
const LOOK_MILLISECONDS = 50

export interface KubeQuotaOptions {
  http: KubeHttp
  log: Log
  reflectorMetrics: ReflectorMetrics
  metrics: QuotaMetrics
  plans: Plans
  lease: GatewayLease
  now: () => Date
}

/** True when the operator has initialized the AccountUsage. */
const isBegun = (usage: AccountUsage | undefined): usage is AccountUsage => usage?.status?.period !== undefined

/**
 * Quota and rate limits, stored in AccountUsages. A request that exceeds them according to the informer cache is rejected without a write: within
 * a month counts only grow, except for refunds, which the watch delivers within milliseconds. Every granted reservation is written first.
 */
export class KubeQuota implements QuotaStore {
  readonly reflector: Reflector<AccountUsage>
  readonly #client: Resource<AccountUsage>
  readonly #ledgers = new Map<string, QuotaLedger>()
  readonly #options: KubeQuotaOptions

  constructor(options: KubeQuotaOptions) {
    const { http, log, reflectorMetrics } = options
    this.#options = options
    this.reflector = new Reflector({ http, resource: accountUsages, log, metrics: reflectorMetrics })
    this.#client = new Resource(http, accountUsages)
    this.reflector.addListener(({ object }) => this.#ledgers.get(object.metadata.name)?.noteChange(object))
  }

  async reserve({ account, reservation, names, units, at }: ReserveRequest): Promise<Grant> {
    const { metrics, now } = this.#options
    const wanted = { id: reservation, names, units, at, countsForRate: true }
    try {
      const outcome = this.#rejectFromCache(account, wanted) ?? (await this.#reserve(account, wanted))
      const { granted, refusal } = outcome
      metrics.onReservation(toLabel(outcome))
      return { granted, facts: this.facts(account, now()), ...(refusal === undefined ? {} : { refusal: refusal as 'quota' | 'rate' }) }
    } catch (error) {
      metrics.onReservation('unavailable')
      throw toApiError(error)
    }
  }

  settle(account: string, reservation: string): void {
    this.#ledgerOf(account).drop(reservation)
  }

  async release(account: string, reservation: string, names: readonly string[]): Promise<void> {
    await this.#ledgerOf(account).release(reservation, names).catch(throwApiError)
  }

  facts({ metadata, spec }: Account, now: Date): LimitFacts {
    const plan = limitsOfPlan(this.#options.plans, spec.plan)
    const usage = this.#cached(metadata.name) ?? { spec: toLimits(spec, plan) }
    return { ...toUsageFacts(usage, now), plan: spec.plan, quota: plan.monthlyQuota }
  }

  days({ metadata }: Account): DailyUsage {
    return this.#cached(metadata.name)?.status?.days ?? {}
  }

  /** Writes pending removals and refunds of this process. */
  async close(): Promise<void> {
    const closing = [...this.#ledgers.values()].map((ledger) => ledger.close())
    for (const result of await Promise.allSettled(closing)) {
      if (result.status === 'rejected')
        this.#options.log.warn({ err: result.reason }, 'reservations not written; the operator will settle them')
    }
  }

  #rejectFromCache({ metadata }: Account, wanted: Omit<Parameters<UsageDraft['reserve']>[0], 'gateway'>): Outcome | undefined {
    const usage = this.#cached(metadata.name)
    if (!usage) return undefined
    const outcome = new UsageDraft(usage, this.#options.now()).reserve({ ...wanted, gateway: '' })
    return outcome.refusal !== 'full' && outcome.granted === 0 ? outcome : undefined
  }

  async #reserve({ metadata }: Account, wanted: Parameters<QuotaLedger['reserve']>[0]): Promise<Outcome> {
    if (!this.#options.lease.isHeld) throw unavailable('this replica has lost its connection to the API server')
    const outcome = await this.#ledgerOf(metadata.name).reserve(wanted)
    if (outcome.refusal === 'full') throw unavailable('too many screenshots of the account are being created at once')
    return outcome
  }

  #ledgerOf(account: string): QuotaLedger {
    const known = this.#ledgers.get(account)
    if (known) return known
    const { lease, now, metrics } = this.#options
    const ledger = new QuotaLedger({ store: this.#storeOf(account), holder: lease.identity, now, random: Math.random, metrics })
    this.#ledgers.set(account, ledger)
    return ledger
  }

  #storeOf(account: string): UsageStore {
    return {
      cached: () => this.#cached(account),
      read: () => this.#read(account),
      write: async (usage) => {
        const written = await this.#client.replaceStatus(usage, { timeoutMilliseconds: WRITE_MILLISECONDS, repeat: 'never' })
        this.reflector.noteWritten(written)
        return written
      },
    }
  }

  #cached(account: string): AccountUsage | undefined {
    const usage = this.reflector.lister.get(`${this.#options.http.namespace}/${account}`)
    return isBegun(usage) ? usage : undefined
  }

  async #read(account: string): Promise<AccountUsage> {
    const until = performance.now() + NEW_ACCOUNT_MILLISECONDS
    for (;;) {
      const found = await this.#client.find(account, { timeoutMilliseconds: READ_MILLISECONDS })
      if (found) this.reflector.noteWritten(found)
      if (isBegun(found)) return found
      while (!this.#cached(account) && performance.now() < until) await sleep(LOOK_MILLISECONDS)
      const cached = this.#cached(account)
      if (cached) return cached
      throw unavailable(`the account ${account} is not set up yet: retry in a few seconds`)
    }
  }
}

const toLabel = ({ granted, refusal }: Outcome): ReservationOutcome => {
  if (refusal === undefined) return 'granted'
  return granted > 0 ? 'partial' : refusal === 'rate' ? 'rate' : 'quota'
}
