import t from 'tap'
import { toSystemReport } from '../../../../../api-gateway/src/resources/system/record.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { Scope } from '../../../../../crds/src/kinds/api-key.ts'
import type { RunnerPool } from '../../../../../crds/src/kinds/runner-pool.ts'
import { DEFAULT_PLANS } from '../../../../../crds/src/usage/plans.ts'
import { aGateway, aScreenshot, NOW } from '../../fakes.ts'

// GET /system, and the scope that only kubectl grants.

const condition = (type: string, status: 'True' | 'False' | 'Unknown') => ({
  ...{ type, status, reason: `${type}Reason`, message: 'why', lastTransitionTime: NOW.toISOString() },
})
const aPool = (name: string, changes: Partial<RunnerPool> = {}): RunnerPool =>
  ({ metadata: { name, namespace: 'default', uid: name, creationTimestamp: NOW.toISOString() }, spec: {}, ...changes }) as RunnerPool

let last = 0
const shot = (accountName: string, phase: 'Pending' | 'Running' | 'Completed' | 'Failed', status: object = {}) =>
  aScreenshot({ id: newId('scr', NOW, Buffer.alloc(10, ++last)), accountName, phase, status })

t.test('the report counts pools, queue, runners and failures', async (t) => {
  const pools = [
    aPool('video', { status: { conditions: [condition('Ready', 'False'), condition('Sandboxed', 'Unknown')] } }),
    aPool('default', {
      status: { replicas: 3, idle: 1, busy: 2, queued: 4, conditions: [condition('Ready', 'True'), condition('Sandboxed', 'True')] },
    }),
    aPool('full', { status: { conditions: [condition('Ready', 'True'), { ...condition('Scaled', 'False'), reason: 'AtMaximum' }] } }),
    aPool('new'),
  ]
  const screenshots = [
    ...[shot('acme', 'Pending'), shot('acme', 'Pending'), shot('gone', 'Pending')],
    shot('acme', 'Running', { runner: { pod: 'pod-2', uid: '2' }, startTime: '2026-11-21T10:20:00Z' }),
    shot('beta', 'Running', { runner: { pod: 'pod-1', uid: '1' }, startTime: '2026-11-21T10:19:00Z' }),
    shot('acme', 'Completed'),
    ...['TIMEOUT', 'DNS_FAILED', 'TIMEOUT'].map((code) => shot('acme', 'Failed', { result: { error: { code, message: 'm' } } })),
    shot('acme', 'Failed'),
  ]
  const plans: Record<string, string> = { acme: 'basic', beta: 'scale' }
  const findAccount = (name: string) => (plans[name] ? ({ metadata: { name }, spec: { plan: plans[name] } } as never) : undefined)
  const { data } = toSystemReport(pools, screenshots, findAccount, { scale: { ...DEFAULT_PLANS.scale, poolName: 'fast' } })
  t.match(data.pools, [
    { name: 'default', ready: true, sandboxed: true, pods: 3, idle: 1, busy: 2, queued: 4, max_pods: 10, problem: null },
    { name: 'full', ready: true, problem: { reason: 'AtMaximum', message: 'why' } },
    { name: 'new', ready: null, reason: null, sandboxed: null, pods: 0 },
    { name: 'video', ready: false, reason: 'ReadyReason', message: 'why', sandboxed: null },
  ])
  t.match(data.runners, [
    { pod: 'pod-1', account: 'beta', started_at: '2026-11-21T10:19:00.000Z' },
    { pod: 'pod-2', account: 'acme' },
  ])
  t.strictSame(data.queue, [
    { pool: 'default', plan: null, accounts: 1, queued: 1, running: 0 },
    { pool: 'default', plan: 'basic', accounts: 1, queued: 2, running: 1 },
    { pool: 'fast', plan: 'scale', accounts: 1, queued: 0, running: 1 },
  ])
  t.strictSame(data.recent, {
    completed: 1,
    failed: 4,
    failures: [
      { code: 'TIMEOUT', count: 2 },
      { code: 'DNS_FAILED', count: 1 },
      { code: 'INTERNAL_ERROR', count: 1 },
    ],
  })
})

t.test('only the scope admin:read reads the report, and * does not contain it', async (t) => {
  const { call, apiKeys } = aGateway()
  const statusWith = async (scopes?: Scope[]) => {
    apiKeys.change((key) => (key.spec = { accountName: 'acme', ...(scopes ? { scopes } : {}) }))
    return (await call('GET', '/system')).status
  }
  t.equal(await statusWith(), 403, 'no scopes: everything in the account')
  t.strictSame([await statusWith(['*']), await statusWith(['admin:read'])], [403, 200])
})

t.test('no request grants admin:read, and only a key that has it manages a key that has it', async (t) => {
  const { call, apiKeys, keyId, addKey } = aGateway()
  const setScopes = (...scopes: Scope[]) => apiKeys.change(({ spec }) => (spec.scopes = scopes), 0)
  const send = async (method: string, path: string, body?: object) => (await call(method, `/keys${path}`, body)).status
  setScopes('*', 'admin:read')
  t.equal(await send('POST', '', { name: 'admin', scopes: ['admin:read'] }), 400)
  t.equal(await send('PATCH', `/${keyId}`, { scopes: ['*', 'admin:read'] }), 400)
  t.equal(await send('POST', '', { name: 'other' }), 201)
  const path = `/${addKey({ scopes: ['*', 'admin:read'] }).id}`
  setScopes('*')
  for (const [method, suffix, body] of [
    ['POST', '/rotate'],
    ['POST', '/link-secret'],
    ['PATCH', '', { name: 'mine' }],
    ['DELETE', ''],
  ] as const)
    t.equal(await send(method, path + suffix, body), 403, method + suffix)
  setScopes('*', 'admin:read')
  t.equal(await send('PATCH', path, { scopes: ['*'] }), 200, 'the scope can be removed')
})
