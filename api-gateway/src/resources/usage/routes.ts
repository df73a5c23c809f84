import type { Plans } from '@tintype/crds/usage/plans'
import { type Route, routeFor } from '../../http/route.ts'
import type { QuotaStore } from '../../store/ports.ts'
import { toUsageReport, UsageReport } from './record.ts'

export interface UsageDeps {
  quota: Pick<QuotaStore, 'facts'>
  plans: Plans
  now: () => Date
}

const route = routeFor<UsageDeps>()

const example = {
  success: true,
  data: {
    period: '2026-11',
    count: 234,
    limit: 2000,
    percentage: 11.7,
    remaining: 1766,
    reset_at: '2026-12-01T00:00:00.000Z',
    plan: 'basic',
    rate_limit_per_minute: 40,
  },
}

/** Routes of usage. */
export const usageRoutes: readonly Route<UsageDeps>[] = [
  route({
    id: 'getUsage',
    method: 'get',
    path: '/usage/current',
    tag: 'Usage',
    scope: 'usage:read',
    summary: 'Read the usage of this month',
    description: 'Months begin in UTC. Failed captures are not charged. Deleting a screenshot does not refund it.',
    query: 'unchecked',
    responses: { 200: { description: 'The report.', schema: UsageReport, example } },
    handle: ({ request: { account }, reply }, { quota, plans, now }) => {
      reply.header('cache-control', 'private, no-cache')
      return toUsageReport(quota.facts(account, now()), account.spec, plans[account.spec.plan])
    },
  }),
]
