// rbac: tintype.dev/accountusages get,list,watch,create,patch
// rbac: tintype.dev/accountusages/status update

import { isAlreadyExists } from '@tintype/crds/client/kube-error'
import { mergePatch } from '@tintype/crds/client/resource'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import type { Account, AccountUsage } from '@tintype/crds/kinds/account'
import { limitsOfPlan, toLimits } from '@tintype/crds/usage/plans'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'
import type { QuotaContext } from './context.ts'
import { recount } from './decide.ts'
import { listPastUnits } from './past-records.ts'

/** Ensures the usage object of an account, with the limits of its plan. Kubernetes deletes it together with the Account. */
export async function ensureUsage(account: Account, cached: AccountUsage | undefined, context: QuotaContext): Promise<AccountUsage> {
  const usage = cached ?? (await create(account, context))
  const begun = usage.status?.period === undefined ? await begin(account, usage, context) : usage
  return limit(account, begun, context)
}

async function create(account: Account, { clients: { usages }, config: { plans } }: QuotaContext): Promise<AccountUsage> {
  const { name, uid } = account.metadata
  const owner = { apiVersion: API_VERSION, kind: 'Account', name, uid, controller: true, blockOwnerDeletion: false }
  const spec = toLimits(account.spec, limitsOfPlan(plans, account.spec.plan))
  try {
    return await usages.create({ metadata: { name, ownerReferences: [owner] }, spec } as Parameters<typeof usages.create>[0])
  } catch (error) {
    if (isAlreadyExists(error)) return usages.get(name)
    throw error
  }
}

/** Gateways accept nothing before the usage has a period, so nothing that is counted here can be charged twice. */
async function begin(account: Account, usage: AccountUsage, context: QuotaContext): Promise<AccountUsage> {
  const { clients, reflectors, events, storage, report, now } = context
  const { name } = account.metadata
  const past = await listPastUnits(name, now(), { objects: storage, report })
  const status = recount(reflectors.screenshots.lister.byIndex(ACCOUNT_INDEX, name), past, usage.spec.limit, now())
  const begun = await clients.usages.replaceStatus({ ...usage, status }, { repeat: 'never' })
  if (status.used > 0) {
    const message = `The usage of this month was lost. It was recomputed from the screenshots and videos of this month: ${status.used} units.`
    events.warn({ ...account, apiVersion: API_VERSION, kind: 'Account' }, 'UsageRecounted', message)
  }
  return begun
}

async function limit({ spec }: Account, usage: AccountUsage, { clients, config }: QuotaContext): Promise<AccountUsage> {
  const wanted = toLimits(spec, limitsOfPlan(config.plans, spec.plan))
  if (usage.spec.limit === wanted.limit && usage.spec.ratePerMinute === wanted.ratePerMinute) return usage
  const patch = mergePatch({ spec: { limit: wanted.limit, ratePerMinute: wanted.ratePerMinute ?? null } })
  return clients.usages.patch(usage.metadata.name, patch)
}
