import t from 'tap'
import { invalid, unavailable } from '../../../../api-gateway/src/common/errors.ts'
import { planScreenshots } from '../../../../api-gateway/src/creation/plan.ts'
import { type UncertainCreate, UncertainCreates } from '../../../../api-gateway/src/creation/uncertain-creates.ts'
import { newId, screenshotIdOf } from '../../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { anAccount } from '../../../support/fakes/builders.ts'
import { recordLog } from '../../../support/sources/log-lines.ts'
import { aGateway, anArchive, aScreenshot, NOW, TestQuota, TestScreenshots } from '../fakes.ts'

// Creations by POST, in which quota, stores or the process fail.

const urls = ['https://example.com/0', 'https://example.com/1', 'https://example.com/2']

/** `failures` are the outcomes of the next creates in the API server. Undefined: it creates the object. */
function aWorld() {
  const failures: unknown[] = []
  const uncertain: UncertainCreate[] = []
  const { log, text } = recordLog()
  let at = NOW
  const uncertainCreates = { add: async (create: UncertainCreate) => void uncertain.push(create) }
  const gateway = aGateway({ log, now: () => at, uncertainCreates })
  const { screenshots, objects, call } = gateway
  const create = screenshots.create.bind(screenshots)
  /** The entry of the Idempotency-Key while the first object is created. */
  let begun: [string, string] | undefined
  screenshots.create = async (object) => {
    begun ??= [...objects.objects].find(([key]) => key.startsWith('idempotency/'))
    const failure = failures.shift()
    if (failure !== undefined) throw failure
    return create(object)
  }
  const key = { 'idempotency-key': 'order-7' }
  const single = (more: Record<string, string> = key, options: object = {}) =>
    call('POST', '/screenshots', { url: 'https://example.com/', options }, more)
  const batch = (more: Record<string, string> = key) => call('POST', '/screenshots/batch', { urls }, more)
  const later = (milliseconds: number): void => {
    at = new Date(at.getTime() + milliseconds)
  }
  /** Ten seconds after a crash of the gateway during the first create, another request may continue it. */
  const crash = () => {
    objects.objects.set(...begun!)
    later(10_000)
  }
  const stored = () => [...screenshots.objects.values()]
  /** A key that was forgotten can stand for another request. */
  const isForgotten = async () => {
    failures.length = 0
    return (await call('POST', '/screenshots', { url: 'https://example.com/other' }, key)).status === 202
  }
  return { ...gateway, failures, uncertain, text, single, batch, later, crash, stored, isForgotten }
}
const statusesOf = ({ body }: { body: { screenshots: { status: string }[] } }) => body.screenshots.map(({ status }) => status)

t.test('planScreenshots derives every id from the reservation', async (t) => {
  const { ids, reservation, batchId } = planScreenshots(NOW, 100, true)
  t.equal(new Set(ids).size, 100)
  t.match([ids[0], reservation, batchId], [/^scr_/, /^res_/, /^batch_/])
})

t.test('a batch pays, creates and settles, in the order of the request', async (t) => {
  const { batch, quota, stored } = aWorld()
  const { status, body } = await batch()
  t.match({ status, body }, { status: 202, body: { total: 3, successful: 3, failed: 0 } })
  t.strictSame(
    body.screenshots.map(({ id, url_to_capture }: { id: string; url_to_capture: string }) => [id, url_to_capture]),
    stored().map(({ metadata, spec }) => [screenshotIdOf(metadata), spec.url]),
  )
  t.strictSame(
    stored().map(({ spec }) => spec.url),
    urls,
  )
  t.match(stored()[0]?.spec, { batchId: body.batch_id, reservation: /^res_/ })
  t.strictSame([quota.used, quota.settled], [3, [stored()[0]?.spec.reservation]])
})

t.test('a batch fills the quota exactly, records the others as failed, and says the same when it is repeated', async (t) => {
  const { batch, quota, archive, stored } = aWorld()
  quota.bound({ limit: 2 })
  const first = await batch()
  t.equal(first.status, 202)
  t.strictSame(statusesOf(first), ['pending', 'pending', 'failed'])
  const [{ id, url, error }] = first.body.failed_jobs
  t.match([url, error], [urls[2], /^USAGE_LIMIT_REACHED: /])
  t.equal(stored().length, 2)
  const ids = first.body.screenshots.map((item: { id: string }) => item.id)
  t.strictSame(await archive.findBatch('acme', first.body.batch_id), ids)
  const refused = await archive.find('acme', id)
  const result = { error: { code: 'USAGE_LIMIT_REACHED' } }
  t.match(refused, { spec: { batchId: first.body.batch_id }, status: { phase: 'Failed', result } })
  t.equal(refused?.spec.reservation, undefined)
  t.strictSame((await batch()).body, first.body)
  t.equal(quota.used, 2)
})

type World = ReturnType<typeof aWorld>

/** Creations of which nothing was done. */
const refusals: [code: string, status: number, arrange: (world: World) => void, restore: (world: World) => void][] = [
  ['USAGE_LIMIT_REACHED', 429, ({ quota }) => quota.bound({ limit: 0 }), ({ quota }) => quota.bound({})],
  ['RATE_LIMIT_EXCEEDED', 429, ({ quota }) => quota.bound({ isRateUsedUp: true }), ({ quota }) => quota.bound({})],
  ['QUEUE_FULL', 503, ({ screenshots }) => (screenshots.isQueueFull = true), ({ screenshots }) => (screenshots.isQueueFull = false)],
]
for (const [code, status, arrange, restore] of refusals) {
  t.test(`a creation with ${code} charges and creates nothing, and forgets its Idempotency-Key`, async (t) => {
    const world = aWorld()
    arrange(world)
    for (const send of [world.single, world.batch]) {
      t.match(await send(), { status, body: { error: { code } } })
      t.strictSame([world.stored().length, world.quota.used], [0, 0])
    }
    restore(world)
    t.ok(await world.isForgotten())
  })
}

const no = invalid([{ path: 'url', code: 'refused', message: 'no' }])
t.test('a creation leaves the charge and the key when it is not known what was created', async (t) => {
  const { single, batch, quota, failures, uncertain } = aWorld()
  failures.push(unavailable('away'), unavailable('away'), no, unavailable('away'), no)
  const refused = { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } }
  const inProgress = { status: 409, body: { error: { code: 'IDEMPOTENCY_IN_PROGRESS' } } }
  t.match(await single(), refused)
  t.strictSame([quota.used, quota.settled, uncertain], [1, [], []])
  t.match(await single(), inProgress)
  t.match(await single({}), refused)
  t.equal(uncertain.length, 1, 'without a key nobody comes back to it')
  for (const expected of [refused, inProgress]) t.match(await batch({ 'idempotency-key': 'mixed' }), expected, 'some items are refused')
  t.equal(quota.used, 5, 'a retry goes on with all of them')
})

t.test('a creation releases the unit of a Screenshot that the API server refuses', async (t) => {
  const { single, quota, failures, isForgotten } = aWorld()
  failures.push(no)
  t.match(await single(), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  t.equal(quota.used, 0)
  t.ok(await isForgotten())
})

t.test('a batch releases only the unit of the refused Screenshot when others were stored', async (t) => {
  const { batch, quota, failures, stored } = aWorld()
  failures.push(undefined, no)
  const response = await batch()
  t.strictSame(statusesOf(response), ['pending', 'failed', 'pending'])
  t.match(response.body.failed_jobs, [{ error: /^VALIDATION_ERROR: / }])
  t.strictSame([quota.used, stored().length, quota.settled], [2, 2, []])
  t.strictSame((await batch()).body, response.body, 'the key is kept')
})

t.test('a creation says unavailable, with the cause in the log, for what it does not understand', async (t) => {
  const { single, failures, text } = aWorld()
  failures.push(new Error('the words of the cause'))
  t.match(await single(), { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
  t.match(text(), 'the words of the cause')
})

t.test('a creation charges nothing when its options cannot be stored', async (t) => {
  const { single, quota, objects, stored, isForgotten } = aWorld()
  const write = objects.write.bind(objects)
  objects.write = async (key, ...rest) => {
    if (key.startsWith('options/')) throw unavailable('away')
    return write(key, ...rest)
  }
  t.match(await single(undefined, { styles: 'x'.repeat(9_000) }), { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
  t.strictSame([quota.used, stored().length], [0, 0])
  t.notOk(await isForgotten())
})

t.test('a creation that is repeated after a crash before the first object pays once', async (t) => {
  const { batch, quota, failures, crash, stored } = aWorld()
  failures.push(...urls.map(() => unavailable('away')))
  await batch()
  t.strictSame([quota.used, stored().length], [3, 0], 'control')
  crash()
  t.equal((await batch()).status, 202)
  t.strictSame([quota.used, stored().length], [3, 3])
})

t.test('a batch that is repeated after a crash among its objects creates what is missing, wherever the others are', async (t) => {
  const { batch, quota, crash, later, archive, screenshots, stored } = aWorld()
  // The process ends before it settles the reservation.
  quota.settle = () => {}
  const first = await batch()
  const [archived, lost] = stored() as [Screenshot, Screenshot]
  const ids = [...screenshots.objects.keys()]
  await archive.add([{ ...archived, status: { phase: 'Completed' } }])
  for (const { metadata } of [archived, lost]) screenshots.remove(screenshotIdOf(metadata))
  crash()
  screenshots.isQueueFull = true
  t.match(await batch(), { status: 503, body: { error: { code: 'QUEUE_FULL' } } }, 'the key of a part is kept')
  screenshots.isQueueFull = false
  later(10_000)
  const again = await batch()
  t.match([again.status, again.headers['idempotent-replayed']], [202, 'true'])
  t.strictSame([again.body.screenshots, again.body.failed], [first.body.screenshots, 0])
  t.strictSame([[...screenshots.objects.keys()].sort(), quota.used], [ids.slice(1).sort(), 3])
})

t.test('a repetition gets the first response from the record, from the archive, and from the request when it was deleted', async (t) => {
  const { single, quota, screenshots, archive, stored } = aWorld()
  const first = await single()
  const [created] = stored() as [Screenshot]
  const ended = screenshots.put({ ...created, status: { phase: 'Completed' } })
  t.strictSame((await single()).body, first.body, 'as it was created')
  screenshots.remove()
  await archive.add([ended])
  t.strictSame((await single()).body, first.body)
  archive.bucket.objects.clear()
  t.strictSame((await single()).body, first.body)
  t.strictSame([quota.used, screenshots.objects.size], [1, 0])
})

t.test('a batch is answered although the records of refused items cannot be kept', async (t) => {
  const { batch, quota, archive } = aWorld()
  quota.bound({ limit: 1 })
  archive.put = () => Promise.reject(unavailable('away'))
  t.strictSame(statusesOf(await batch()), ['pending', 'failed', 'failed'])
})

t.test('a batch charges nothing when its ids cannot be kept', async (t) => {
  const { batch, quota, archive } = aWorld()
  archive.putBatch = () => Promise.reject(unavailable('away'))
  t.match(await batch(), { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
  t.equal(quota.used, 0)
})

t.test('a batch names single items that could not be stored', async (t) => {
  const { batch, quota, archive, failures, uncertain, stored } = aWorld()
  failures.push(undefined, unavailable('away'))
  const response = await batch()
  t.strictSame(statusesOf(response), ['pending', 'failed', 'pending'])
  const [{ id, error }] = response.body.failed_jobs
  t.match(error, /^SERVICE_UNAVAILABLE: /)
  t.equal(await archive.find('acme', id), undefined, 'it may exist all the same')
  t.strictSame(uncertain, [{ account: 'acme', reservation: stored()[0]?.spec.reservation, ids: [id] }], 'somebody looks into it')
  t.strictSame(quota.settled, [])
})

/** Five creates that are charged and whose outcome is unknown. They are looked up as soon as it is asked for. */
async function anUncertainWorld() {
  const account = anAccount({ name: 'acme', spec: { plan: 'scale' } })
  const ids = Array.from({ length: 5 }, () => newId('scr', NOW))
  const deps = { screenshots: new TestScreenshots(), archive: anArchive(), quota: new TestQuota() }
  await deps.quota.reserve({ account, reservation: 'res_1', names: ids.map((id) => id.replace('_', '-')), at: NOW })
  const waits: number[] = []
  const uncertainCreates = new UncertainCreates({ ...deps, log: { info() {}, warn() {} }, wait: async () => waits.push(1) })
  return { ids, ...deps, waits, settle: () => uncertainCreates.add({ account: 'acme', reservation: 'res_1', ids }) }
}

t.test('screenshots that were never created are refunded, and live, archived and deleted ones stay charged', async (t) => {
  const { ids, screenshots, archive, quota, settle } = await anUncertainWorld()
  const [live = '', archived = '', deleted = ''] = ids
  screenshots.put(aScreenshot({ id: live }))
  await archive.add([aScreenshot({ id: archived })])
  await archive.markDeleted('acme', deleted)
  await settle()
  t.strictSame([quota.used, quota.settled], [3, []])
})

t.test('failed lookups of uncertain creates are repeated, and after the last check the operator settles the rest', async (t) => {
  for (const { failures, expected } of [
    { failures: 2, expected: [3, 0, 0] },
    { failures: Number.POSITIVE_INFINITY, expected: [5, 5, 0] },
  ]) {
    const { screenshots, quota, waits, settle } = await anUncertainWorld()
    let away = failures
    const findLatest = screenshots.findLatest.bind(screenshots)
    screenshots.findLatest = async (id) => (away-- > 0 ? Promise.reject(unavailable('away')) : findLatest(id))
    await settle()
    t.strictSame([waits.length, quota.used, quota.settled.length], expected)
  }
})
