import type { Operation } from '../../http/route.ts'
import { UsageReport } from '../schemas/usage.ts'
import { usage } from './examples.ts'

/** Operations of usage. */
export const usageOperations: readonly Operation[] = [
  {
    id: 'getUsage',
    method: 'get',
    path: '/usage/current',
    tag: 'Usage',
    scope: 'usage:read',
    summary: 'Read the usage of this month',
    description: 'Months begin in UTC. Failed captures are not charged. Deleting a screenshot does not refund it.',
    responses: { 200: { description: 'The report.', schema: UsageReport, example: usage } },
  },
]
