import type { Lister } from '@tintype/crds/client/lister'
import { DEFAULT_POOL } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { findPlan, type Plans } from '@tintype/crds/usage/plans'

/** The pool that captures a Screenshot: the one that it names, else that of its account's plan, else the default one. */
export function poolsOf(
  accounts: Pick<Lister<Account>, 'get'>,
  plans: Plans,
  namespace: string,
): (shot: Pick<Screenshot, 'metadata' | 'spec'>) => string {
  return ({ spec }) => {
    if (spec.poolName !== undefined) return spec.poolName
    const plan = accounts.get(`${namespace}/${accountOf({ spec })}`)?.spec.plan
    return (plan !== undefined ? findPlan(plans, plan)?.poolName : undefined) ?? DEFAULT_POOL
  }
}
