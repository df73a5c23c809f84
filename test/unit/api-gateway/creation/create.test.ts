import t from 'tap'
import { invalid, unavailable } from '../../../../api-gateway/src/common/errors.ts'
import { buildAll } from '../../../../api-gateway/src/creation/build.ts'
import { createScreenshots } from '../../../../api-gateway/src/creation/create.ts'
import type { IdempotentExecution } from '../../../../api-gateway/src/creation/idempotency.ts'
import { planScreenshots } from '../../../../api-gateway/src/creation/plan.ts'
import type { UncertainCreate } from '../../../../api-gateway/src/creation/uncertain-creates.ts'
import { buildMetrics } from '../../../../api-gateway/src/metrics/metrics.ts'
import { createItems } from '../../../../api-gateway/src/resources/batches/create-items.ts'
import { createSingle } from '../../../../api-gateway/src/resources/screenshots/create.ts'
import type { NewScreenshot } from '../../../../api-gateway/src/store/ports.ts'
import { toSealingKey } from '../../../../crds/src/crypto/sealed.ts'
import type { Account } from '../../../../crds/src/kinds/account.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { CountingQuota, FakeObjects } from '../fake-stores.ts'
import { aQueue, aScreenshot, FakeArchive, FakeFiles, FakeScreenshots, NOW, OPENING_KEY } from '../fakes.ts'

const account: Account = {
  metadata: { name: 'acme', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: NOW.toISOString() },
  spec: { plan: 'scale' },
}

class Screenshots extends FakeScreenshots {
  failures: unknown[] = []
  override async create(object: NewScreenshot): Promise<Screenshot> {
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
    return super.create(object)
  }
}

function aWorld(count: number) {
  const screenshots = new Screenshots()
  const uncertain: UncertainCreate[] = []
  const deps = {
    screenshots,
    queue: aQueue(screenshots),
    uncertainCreates: { add: async (create: UncertainCreate) => void uncertain.push(create) },
    quota: new CountingQuota(),
    archive: new FakeArchive(),
    log: { warn: () => undefined } as never,
  }
  const urls = Array.from({ length: count }, (_, index) => `https://example.com/${index}`)
  const done: unknown[] = []
  const execution: IdempotentExecution = {
    plan: planScreenshots(NOW, count, count > 1),
    isRepeated: false,
    isRemembered: false,
    complete: async (result) => void done.push(result),
    forget: async () => void done.push('forgotten'),
  }
  const targets = urls.map((url) => ({ url }))
  const sealingKey = () => toSealingKey(OPENING_KEY)
  const cache = {
    files: new FakeFiles(),
    keyRing: () => ({ current: 'a', keys: { a: '' } }),
    now: () => NOW,
    metrics: buildMetrics(),
    report: () => {},
  }
  const build = () => buildAll({ accountName: 'acme', targets }, execution.plan, { sealingKey, objects: new FakeObjects(), ...cache })
  const request = { account, execution, urls, batchId: execution.plan.batchId ?? '', build }
  return { deps, request, execution, done, uncertain, repeat: { ...request, execution: { ...execution, isRepeated: true } } }
}

t.test('planScreenshots derives every id from the reservation', async (t) => {
  const { ids, reservation, batchId } = planScreenshots(NOW, 100, true)
  t.equal(new Set(ids).size, 100)
  t.match(ids[0], /^scr_/)
  t.match(reservation, /^res_/)
  t.match(batchId, /^batch_/)
})

t.test('createScreenshots pays, creates and settles, in the order of the request', async (t) => {
  const { deps, request, execution } = aWorld(3)
  const { items } = await createScreenshots(request, deps)
  t.strictSame(
    items.map(({ id, screenshot }) => [id, screenshot?.spec.url]),
    execution.plan.ids.map((id, index) => [id, `https://example.com/${index}`]),
  )
  t.match(items[0]?.screenshot?.spec, { batchId: execution.plan.batchId, reservation: execution.plan.reservation })
  t.equal(deps.quota.used, 3)
  t.strictSame(deps.quota.settled, [execution.plan.reservation])
})

t.test('createScreenshots fills the quota exactly, from the first on', async (t) => {
  const { deps, request } = aWorld(3)
  deps.quota.limit = 2
  const { items } = await createScreenshots(request, deps)
  t.match(items, [{ screenshot: Object }, { screenshot: Object }, { refusal: { code: 'USAGE_LIMIT_REACHED' } }])
  t.equal(deps.screenshots.objects.size, 2)
})

t.test('createScreenshots refuses and forgets when nothing was done', async (t) => {
  const refusals: [string, (world: ReturnType<typeof aWorld>) => unknown][] = [
    ['USAGE_LIMIT_REACHED', ({ deps }) => Object.assign(deps.quota, { limit: 0 })],
    ['RATE_LIMIT_EXCEEDED', ({ deps }) => Object.assign(deps.quota, { isRateUsedUp: true })],
    ['QUEUE_FULL', ({ deps }) => Object.assign(deps.screenshots, { isQueueFull: true })],
  ]
  for (const [code, arrange] of refusals) {
    const world = aWorld(2)
    arrange(world)
    await t.rejects(createScreenshots(world.request, world.deps), { code })
    t.strictSame([world.done, world.deps.screenshots.objects.size, world.deps.quota.used], [['forgotten'], 0, 0], code)
  }
})

t.test('createScreenshots leaves the charge and the key when it is not known what was created', async (t) => {
  const { deps, request, done, uncertain } = aWorld(1)
  deps.screenshots.failures = [unavailable('away'), unavailable('away')]
  const keyed = { ...request, execution: { ...request.execution, isRemembered: true } }
  await t.rejects(createScreenshots(keyed, deps), { code: 'SERVICE_UNAVAILABLE' })
  t.strictSame([deps.quota.used, deps.quota.settled, done, uncertain], [1, [], [], []])
  await t.rejects(createScreenshots(request, deps), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(uncertain.length, 1, 'without a key nobody comes back to it')
})

t.test('createScreenshots gives back what the API server refuses to store', async (t) => {
  const { deps, request, done } = aWorld(1)
  deps.screenshots.failures = [invalid([{ path: 'options', code: 'refused', message: 'no' }])]
  await t.rejects(createScreenshots(request, deps), { code: 'VALIDATION_ERROR' })
  t.strictSame([deps.quota.used, done], [0, ['forgotten']])
})

t.test('createScreenshots gives back only the item that the API server refuses, when it has stored others', async (t) => {
  const { deps, request, done, execution } = aWorld(3)
  deps.screenshots.failures = [undefined, invalid([{ path: 'url', code: 'refused', message: 'no' }])]
  const { items } = await createScreenshots(request, deps)
  t.match(items, [{ screenshot: Object }, { refusal: { code: 'VALIDATION_ERROR' } }, { screenshot: Object }])
  t.strictSame([deps.quota.used, deps.screenshots.objects.size, done, deps.quota.settled], [2, 2, [], [execution.plan.reservation]])
})

t.test('createScreenshots says unavailable, with the cause for the log, for what it does not understand', async (t) => {
  const { deps, request } = aWorld(1)
  const cause = new Error('forbidden')
  deps.screenshots.failures = [cause]
  await t.rejects(createScreenshots(request, deps), { code: 'SERVICE_UNAVAILABLE', cause })
})

t.test('createScreenshots charges nothing when the options cannot be stored', async (t) => {
  const { deps, request, done } = aWorld(2)
  const build = async () => {
    throw unavailable('away')
  }
  await t.rejects(createScreenshots({ ...request, build }, deps), { code: 'SERVICE_UNAVAILABLE' })
  t.strictSame([deps.quota.used, done, deps.screenshots.objects.size], [0, ['forgotten'], 0])
})

t.test('createScreenshots repeated after a crash before the first object pays once', async (t) => {
  const { deps, request, repeat, execution } = aWorld(2)
  await deps.quota.reserve({
    account,
    reservation: execution.plan.reservation,
    names: execution.plan.ids.map((id) => id.replace('_', '-')),
    at: NOW,
  })
  const { items } = await createScreenshots(repeat, deps)
  t.strictSame([items.length, deps.quota.used, deps.screenshots.objects.size], [2, 2, 2])
  t.ok(request)
})

t.test('createScreenshots repeated after a crash among the objects creates what is missing, wherever the others are', async (t) => {
  const { deps, request, repeat, execution } = aWorld(3)
  await createScreenshots(request, deps)
  const [archived = '', lost = ''] = execution.plan.ids
  await deps.archive.put('acme', [deps.screenshots.objects.get(archived) ?? aScreenshot({})])
  deps.screenshots.objects.delete(archived)
  deps.screenshots.objects.delete(lost)
  const { items } = await createScreenshots(repeat, deps)
  t.strictSame(
    items.map(({ id, refusal }) => [id, refusal]),
    execution.plan.ids.map((id) => [id, undefined]),
  )
  t.strictSame([[...deps.screenshots.objects.keys()].sort(), deps.quota.used], [execution.plan.ids.slice(1).sort(), 3])
})

t.test(
  'createSingle answers a completed repetition from the record, from the archive, and from the request when it was deleted',
  async (t) => {
    const { deps, request, execution } = aWorld(1)
    const created = await createSingle(request, deps)
    const repeated = { ...request, execution: { ...execution, isRepeated: true, result: {} } }
    t.strictSame(await createSingle(repeated, deps), created)
    deps.screenshots.objects.clear()
    await deps.archive.put('acme', [created])
    t.strictSame(await createSingle(repeated, deps), created)
    deps.archive.records.clear()
    t.match(await createSingle(repeated, deps), {
      metadata: { name: created.metadata.name },
      spec: created.spec,
      status: { phase: 'Pending' },
    })
    t.strictSame([deps.quota.used, deps.screenshots.objects.size], [1, 0])
  },
)

t.test('createItems records what was over the quota as failed, and says the same when it is repeated', async (t) => {
  const { deps, request, execution, done } = aWorld(3)
  deps.quota.limit = 2
  const items = await createItems(request, deps)
  t.match(items[2], { url: 'https://example.com/2', refusal: { code: 'USAGE_LIMIT_REACHED' } })
  t.strictSame(deps.archive.batches.get(`acme/${request.batchId}`), execution.plan.ids)
  const refused = deps.archive.records.get(execution.plan.ids[2] ?? '')
  t.match(refused, { spec: { batchId: request.batchId }, status: { phase: 'Failed', result: { error: { code: 'USAGE_LIMIT_REACHED' } } } })
  t.equal(refused?.spec.reservation, undefined)
  t.strictSame(await createItems({ ...request, execution: { ...execution, isRepeated: true, result: done[0] } }, deps), items)
})

t.test('createItems answers although the records of refused items cannot be kept', async (t) => {
  const { deps, request } = aWorld(2)
  deps.quota.limit = 1
  deps.archive.put = async () => {
    throw unavailable('away')
  }
  t.match(await createItems(request, deps), [{ refusal: undefined }, { refusal: { code: 'USAGE_LIMIT_REACHED' } }])
})

t.test('createItems charges nothing when its ids cannot be kept', async (t) => {
  const { deps, request } = aWorld(2)
  deps.archive.putBatch = async () => {
    throw unavailable('away')
  }
  await t.rejects(createItems(request, deps), { code: 'SERVICE_UNAVAILABLE' })
  t.equal(deps.quota.used, 0)
})

t.test('createItems names single items that could not be stored', async (t) => {
  const { deps, request, execution, uncertain } = aWorld(3)
  deps.screenshots.failures = [undefined, unavailable('away')]
  const items = await createItems(request, deps)
  t.match(items, [{ refusal: undefined }, { refusal: { code: 'SERVICE_UNAVAILABLE' } }, { refusal: undefined }])
  t.equal(deps.archive.records.size, 0, 'it may exist all the same')
  t.match(uncertain, [{ account: 'acme', reservation: execution.plan.reservation, ids: [execution.plan.ids[1]] }], 'somebody looks into it')
  t.strictSame(deps.quota.settled, [])
})
