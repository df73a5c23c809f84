import type { Plans } from '@tintype/crds/usage/plans'
import { type Route, routeFor } from '../../http/route.ts'
import type { SystemView } from '../../store/ports.ts'
import { SystemReport, toSystemReport } from './record.ts'

export interface SystemDeps {
  system: SystemView
  plans: Plans
}

const route = routeFor<SystemDeps>('System')

const example = {
  success: true,
  data: {
    pools: [
      {
        ...{
          name: 'default',
          ready: true,
          reason: 'PodsReady',
          message: '2 of 3 pods are idle',
          problem: null,
          sandboxed: true,
          records_videos: false,
        },
        ...{ min_idle: 1, max_pods: 10, pods: 3, idle: 2, busy: 1, queued: 0 },
      },
    ],
    runners: [
      {
        ...{
          pod: 'default-x7k2p',
          screenshot_id: 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f',
          account: 'acme',
          started_at: '2026-11-21T10:00:00.000Z',
        },
      },
    ],
    queue: [{ pool: 'default', plan: 'basic', accounts: 1, queued: 0, running: 1 }],
    recent: { completed: 1200, failed: 31, failures: [{ code: 'TIMEOUT', count: 31 }] },
  },
}

/** Routes for administrators. */
export const systemRoutes: readonly Route<SystemDeps>[] = [
  route('GET /system', {
    id: 'getSystem',
    scope: 'admin:read',
    summary: 'Read the state of the service',
    description:
      'Pools, running captures, queue and failures of all accounts. The scope `*` does not contain `admin:read`, and no request grants it: add it to the ApiKey with kubectl.',
    responses: { 200: { description: 'The report.', schema: SystemReport, example } },
    errors: ['SERVICE_UNAVAILABLE'],
    handle: async (_, { system, plans }) => toSystemReport(await system.pools(), system.screenshots(), system.findAccount, plans),
  }),
]
