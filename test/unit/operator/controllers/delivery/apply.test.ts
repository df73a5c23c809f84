import { Registry } from 'prom-client'
import t from 'tap'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { silentLog } from '../../../../../crds/client/log.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { type ApplyDeps, apply } from '../../../../../operator/src/controllers/delivery/apply.ts'
import type { Action } from '../../../../../operator/src/controllers/delivery/decide.ts'
import { ScreenshotProgress } from '../../../../../operator/src/controllers/delivery/progress.ts'
import { createDeliveryMetrics } from '../../../../../operator/src/controllers/delivery/telemetry/metrics.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'

const shot = aScreenshot({ name: 'shot', status: completedStatus() })
const entry = { attempts: 1, at: at(3).toISOString(), state: 'ok' as const }
const record: Action = {
  do: 'record',
  changes: [{ event: 'screenshot.completed', webhook: 'hook', before: undefined, after: entry, statusCode: 200 }],
}
const post: Action = { do: 'post', event: 'screenshot.completed', webhook: 'hook', attempt: 2 }

/** The actions with a log of their effects; `refuse` is the error of the API server. */
function setUp(refuse?: KubeError) {
  const did: string[] = []
  const screenshots = {
    patch: async () => {
      if (refuse) throw refuse
      did.push('write')
      return shot
    },
    delete: async () => {
      if (refuse) throw refuse
      did.push('delete')
    },
  }
  const metrics = createDeliveryMetrics(new Registry())
  metrics.deliveries.inc = (labels) => void did.push(`metric ${(labels as { result: string }).result}`)
  const deps: ApplyDeps = {
    clients: { screenshots } as never,
    reflectors: { screenshots: { noteDeleted: () => did.push('see gone') && undefined } } as never,
    deliveryWorker: { send: ({ attempt }) => did.push(`send ${attempt}`) && undefined },
    statistics: { count: (key) => did.push(`count ${key}`) && undefined },
    deliveryLog: { note: () => {} },
    findWebhook: () => undefined,
    keepOpen: async () => {},
    keepMissed: async () => {},
    metrics,
    log: silentLog,
  }
  const progress = new ScreenshotProgress(shot.metadata.uid)
  progress.set('screenshot.completed', 'hook', { state: 'ended', attempt: 1, at: at(3), isSuccess: true, statusCode: 200, jitter: 0 })
  const observed = {
    screenshot: shot as Screenshot,
    occurrences: [{ event: 'screenshot.completed' as const, at: at(2) }],
    candidates: [],
    progress,
    isDeleteRequested: false,
    defaultWebhook: aWebhook({ name: 'signer', spec: { isDefault: true } }),
  }
  return { did, progress, run: (actions: Action[]) => apply(actions, observed, deps, new AbortController().signal) }
}
const refusal = (status: number, reason: string, details?: unknown) => new KubeError({ status, reason, message: reason, details })

t.test('apply writes before it posts, and reports what was written', async (t) => {
  const { did, progress, run } = setUp()
  t.strictSame(await run([record, post, { do: 'requeue', afterMilliseconds: 7 }]), { requeueAfterMilliseconds: 7 })
  t.strictSame(did, ['write', 'count default/hook', 'metric ok', 'send 2'])
  t.ok(progress.isEmpty, 'recorded results are removed')
})

t.test('apply posts nothing that depends on a failed write, and keeps the result', async (t) => {
  for (const [error, expected] of [
    [refusal(422, 'Invalid'), { name: 'RetryableError' }],
    [refusal(422, 'Invalid', { causes: [{ field: 'status.deliveries', reason: 'FieldValueTooMany' }] }), { name: 'TerminalError' }],
    [refusal(0, 'Unreachable'), { name: 'KubeError' }],
  ] as const) {
    const { did, progress, run } = setUp(error)
    await t.rejects(run([record, post]), { ...expected, message: /./ })
    t.strictSame(did, [])
    t.notOk(progress.isEmpty)
  }
})

t.test('apply ignores a Screenshot that was deleted', async (t) => {
  const { did, run } = setUp(refusal(404, 'NotFound'))
  await run([record])
  t.strictSame(did, [])
})

t.test('apply deletes a Screenshot, or finds it deleted', async (t) => {
  for (const [error, expected] of [
    [undefined, ['delete', 'see gone']],
    [refusal(404, 'NotFound'), ['see gone']],
    [refusal(409, 'Conflict'), ['see gone']],
  ] as const) {
    const { did, run } = setUp(error)
    await run([{ do: 'deleteScreenshot' }])
    t.strictSame(did, expected)
  }
})

t.test('apply counts posts to the URL of a request for the default webhook', async (t) => {
  const { did, run } = setUp()
  const after = { attempts: 1, at: at(3).toISOString(), state: 'ok' as const }
  const change = { event: 'screenshot.completed' as const, webhook: '_request', before: undefined, after, statusCode: 200 }
  await run([{ do: 'record', changes: [change] }])
  t.ok(did.includes('count default/signer'))
})
