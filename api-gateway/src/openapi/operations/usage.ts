import { UsageReport } from '../schemas/usage.ts'
import { usage } from './examples.ts'
import type { Operation } from './operation.ts'

/** Spec 4.14. */
export const usageOperations: readonly Operation[] = [
  {
    id: 'getUsage',
    method: 'get',
    path: '/usage/current',
    tag: 'Usage',
    scope: 'usage:read',
    summary: 'Read what is used this month',
    description: 'Months are those of UTC. A failed capture gives its unit back; deleting does not.',
    responses: { 200: { description: 'The report.', schema: UsageReport, example: usage } },
  },
]
