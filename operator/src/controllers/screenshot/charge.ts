import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { isCharged } from '../quota/decide.ts'
import type { ScreenshotContext } from './context.ts'
import type { Action } from './decide.ts'
import { reasonOf } from './status.ts'

/** Whether a claim must charge a unit of quota: no gateway charged the Screenshot, and it was never claimed before. */
export const mustBeCharged = (shot: Screenshot, { charge }: Pick<ScreenshotContext, 'charge'>): boolean =>
  charge !== undefined && !isCharged(shot)

type ChargeContext = Pick<ScreenshotContext, 'charge' | 'chargeBackoff' | 'now'>

/** Charges the Screenshot; repeated calls charge only once. Returns the actions that replace the claim when it cannot be charged. */
export async function chargeFor(shot: Screenshot, { charge, chargeBackoff, now }: ChargeContext): Promise<Action[] | undefined> {
  if (charge === undefined || isCharged(shot)) return undefined
  const account = accountOf(shot)
  const at = now().getTime()
  if (!chargeBackoff.mayTry(account, at))
    return [{ do: 'release' }, { do: 'requeue', afterMilliseconds: chargeBackoff.waitOf(account, at) }]
  const outcome = await charge(shot).catch((error: unknown) => {
    chargeBackoff.onFailed(account, now().getTime())
    throw error
  })
  chargeBackoff.onSucceeded(account)
  switch (outcome) {
    case 'charged':
      return undefined
    case 'quota': {
      const message = `the monthly quota of the account ${account} is used up`
      return [{ do: 'release' }, { do: 'fail', code: 'USAGE_LIMIT_REACHED', reason: 'QuotaExceeded', message }]
    }
    case 'suspended':
      return [{ do: 'release' }, { do: 'fail', code: 'ACCOUNT_SUSPENDED', message: `the account ${account} is suspended` }]
    case 'missing': {
      const reason = 'AccountNotFound'
      const note: Action = { do: 'note', reason, message: `Account ${account} does not exist` }
      return reasonOf(shot) === reason ? [{ do: 'release' }] : [{ do: 'release' }, note]
    }
  }
}
