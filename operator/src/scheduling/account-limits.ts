import type { Lister } from '@tintype/crds/client/lister'
import type { Account } from '@tintype/crds/kinds/account'
import { poolOf, type RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isMoving } from '@tintype/crds/options/output/formats'
import { accountOf } from '@tintype/crds/records/record'
import { findPlan, limitsOfPlan, type Plans } from '@tintype/crds/usage/plans'

/** Weight of an account in the fair queue, and its limit of concurrent captures. */
export interface AccountLimits {
  weight: number
  /** Concurrent captures in all pools; absent: no limit. */
  maxRunning?: number | undefined
  /** True while the release has other accounts: the last runner of a pool is kept for accounts that run nothing. */
  hasOthers?: boolean
}

/** Limits for Screenshots whose Account does not exist. They have the smallest weight, and the pending controller fails them. */
const NO_ACCOUNT: AccountLimits = { weight: 1 }

/**
 * Returns the limits of each account according to its plan. The `maxRunning` of plans protects other accounts, so it does not limit the only account
 * of a release.
 * @param crashLimitOf lower limit of concurrent captures for an account that crashed runners; undefined: the limit of the plan
 */
export function accountLimits(
  accounts: Pick<Lister<Account>, 'get' | 'size'>,
  plans: Plans,
  namespace: string,
  crashLimitOf: (account: string) => number | undefined = () => undefined,
): (account: string) => AccountLimits {
  return (name) => {
    const account = accounts.get(`${namespace}/${name}`)
    const { weight, maxRunning }: AccountLimits = account ? limitsOfPlan(plans, account.spec.plan) : NO_ACCOUNT
    const hasOthers = accounts.size > 1
    const limit = hasOthers ? maxRunning : undefined
    const crashLimit = crashLimitOf(name)
    // Called for every comparison in the queue.
    return { weight, hasOthers, maxRunning: crashLimit === undefined ? limit : Math.min(crashLimit, limit ?? crashLimit) }
  }
}

/** The pool that captures a Screenshot ({@link poolOf}), with the pool of its account's plan. */
export function poolsOf(
  accounts: Pick<Lister<Account>, 'get'>,
  plans: Plans,
  namespace: string,
): (shot: Pick<Screenshot, 'metadata' | 'spec'>) => string {
  return ({ spec }) => {
    const plan = accounts.get(`${namespace}/${accountOf({ spec })}`)?.spec.plan
    return poolOf(spec, plan === undefined ? undefined : findPlan(plans, plan)?.poolName)
  }
}

/** False for a video in a pool that records none. */
export const canRecordIn = ({ spec }: Pick<Screenshot, 'spec'>, pool: Pick<RunnerPool, 'spec'>): boolean =>
  !isMoving(spec.options?.format) || pool.spec.video === true
