import { limitsOfPlan, type Plans } from '@tintype/crds/usage/plans'
import type { FastifyInstance } from 'fastify'
import type { QuotaStore } from '../../store/ports.ts'
import { toUsageReport } from '../../translate/account/usage.ts'

export interface UsageDeps {
  quota: Pick<QuotaStore, 'facts'>
  plans: Plans
  now: () => Date
}

/** GET /usage/current. */
export function addUsageRoute(app: FastifyInstance, { quota, plans, now }: UsageDeps): void {
  app.get('/usage/current', { config: { scope: 'usage:read' } }, async ({ account }, reply) => {
    reply.header('cache-control', 'private, no-cache')
    return toUsageReport(quota.facts(account, now()), account.spec, limitsOfPlan(plans, account.spec.plan))
  })
}
