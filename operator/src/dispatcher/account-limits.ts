import type { Lister } from '@tintype/crds/client/lister'
import type { Account } from '@tintype/crds/kinds/account'
import type { Plans } from '@tintype/crds/plans'

/** What an account may have of the runners. */
export interface Share {
  /** Beside other accounts that wait. */
  weight: number
  /** Captures at a time, on all pools; absent: no ceiling. */
  maxRunning?: number | undefined
}

/** An Account that does not exist: its Screenshots weigh the least, and are stopped elsewhere. */
const NOBODY: Share = { weight: 1 }

/**
 * The share of each account by its plan.
 * @param ceilingOf captures at a time of an account that has made others dear; undefined: as its plan says
 */
export function sharesOf(
  accounts: Pick<Lister<Account>, 'get'>,
  plans: Plans,
  namespace: string,
  ceilingOf: (account: string) => number | undefined = () => undefined,
): (account: string) => Share {
  return (name) => {
    const account = accounts.get(`${namespace}/${name}`)
    const share = account ? plans[account.spec.plan] : NOBODY
    const ceiling = ceilingOf(name)
    return ceiling === undefined ? share : { weight: share.weight, maxRunning: Math.min(ceiling, share.maxRunning ?? ceiling) }
  }
}
