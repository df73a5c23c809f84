import { limitsOfPlan, type Plans } from '@tintype/crds/usage/plans'
import { everyDay } from '@tintype/crds/usage/usage'
import { type Route, routeFor } from '../../http/route.ts'
import type { QuotaStore } from '../../store/ports.ts'
import { DailyUsageReport, toUsageReport, UsageReport } from './record.ts'

export interface UsageDeps {
  quota: Pick<QuotaStore, 'facts' | 'days'>
  plans: Plans
  now: () => Date
}

const route = routeFor<UsageDeps>('Usage')

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

const dailyExample = {
  success: true,
  data: [
    { date: '2026-11-20', count: 180 },
    { date: '2026-11-21', count: 54 },
  ],
}

export const usageRoutes: readonly Route<UsageDeps>[] = [
  route('GET /usage/current', {
    id: 'getUsage',
    scope: 'usage:read',
    summary: 'Read the usage of this month',
    description: 'Months begin in UTC. Failed captures are not charged. Deleting a screenshot does not refund it.',
    responses: { 200: { description: 'The report.', schema: UsageReport, example } },
    handle: ({ request: { account } }, { quota, plans, now }) =>
      toUsageReport(quota.facts(account, now()), account.spec, limitsOfPlan(plans, account.spec.plan)),
  }),
  route('GET /usage/days', {
    id: 'getDailyUsage',
    scope: 'usage:read',
    summary: 'Read the usage by day',
    description:
      'Days begin in UTC. A capture counts for the day of its request, with the same units as in `GET /usage/current`. A failed capture is taken back from its day.',
    responses: { 200: { description: 'The oldest day first.', schema: DailyUsageReport, example: dailyExample } },
    handle: ({ request: { account } }, { quota, now }) => ({
      success: true,
      data: everyDay(quota.days(account), now()).map(({ date, units }) => ({ date, count: units })),
    }),
  }),
]
