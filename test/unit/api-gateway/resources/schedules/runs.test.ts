import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { ScreenshotSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import type { IgnoredObject } from '../../../../../crds/src/records/ignored-objects.ts'
import { runKey } from '../../../../../crds/src/records/storage-keys.ts'
import { calling } from '../../calling.ts'
import { aGateway, NOW } from '../../fakes.ts'

type Gateway = ReturnType<typeof aGateway>

/** A schedule as kubectl creates it. */
function addSchedule({ schedules }: Gateway, spec: Partial<ScreenshotSchedule['spec']> = {}): { id: string; schedule: ScreenshotSchedule } {
  const id = newId('sch', NOW)
  const metadata = {
    ...{ name: id.replace('_', '-'), namespace: 'default', uid: 'uid-1', resourceVersion: '1' },
    creationTimestamp: NOW.toISOString(),
  }
  const template = { url: 'https://example.com/', options: { fullPage: true }, externalIdentifier: 'home' }
  const schedule: ScreenshotSchedule = { metadata, spec: { accountName: 'acme', schedule: '@daily', template, ...spec } }
  schedules.objects.push(schedule)
  return { id, schedule }
}

t.test('POST /schedules/:id/run creates a Screenshot that belongs to the schedule and is charged', async (t) => {
  const gateway = aGateway()
  const { id, schedule } = addSchedule(gateway, { suspend: true })
  const { status, body, headers } = await calling(gateway)('POST', `/schedules/${id}/run`)
  t.equal(status, 202)
  t.match(body, {
    url: 'https://example.com/',
    status: 'pending',
    options: { full_page: true },
    created_at: NOW.toISOString(),
  })
  t.match(headers, { location: `/api/v1/screenshots/${body.id}`, 'retry-after': '2', 'x-queue-position': '1' })
  const created = gateway.screenshots.objects.get(body.id)!
  t.match(created.spec, {
    url: 'https://example.com/',
    accountName: 'acme',
    externalIdentifier: 'home',
    options: { fullPage: true },
    scheduleRef: { name: schedule.metadata.name, uid: 'uid-1', time: NOW.toISOString() },
    reservation: /^res_/,
  })
  t.strictSame(gateway.quota.settled, [created.spec.reservation])
  t.equal((await calling(gateway)('GET', `/screenshots/${body.id}`)).body.schedule_id, id, 'the record names its schedule')
  t.equal(gateway.quota.facts(gateway.keys.accounts.get('acme')!, NOW).used, 1)
})

t.test('POST /schedules/:id/run refuses fields, because a run takes everything from its schedule', async (t) => {
  const gateway = aGateway()
  const { id } = addSchedule(gateway)
  const { app, headers } = gateway
  const run = (payload: object) => app.inject({ method: 'POST', url: `/v1/schedules/${id}/run`, headers, payload })
  const response = await run({ url: 'https://other.example.com/' })
  t.match([response.statusCode, response.json().error.message], [400, 'url is not known here'])
  t.equal((await run({})).statusCode, 202)
})

t.test('POST /schedules/:id/run with handling=lenient lists the fields that it drops', async (t) => {
  const { app, headers: own, ...gateway } = aGateway()
  const { id } = addSchedule({ app, headers: own, ...gateway })
  const headers = { ...own, prefer: 'handling=lenient' }
  const response = await app.inject({
    method: 'POST',
    url: `/v1/schedules/${id}/run`,
    headers,
    payload: { url: 'https://other.example.com/' },
  })
  t.match([response.statusCode, response.headers['x-ignored-options']], [202, 'url'])
})

t.test('POST /schedules/:id/run passes on what is sealed to the schedule', async (t) => {
  const gateway = aGateway()
  const { id, schedule } = addSchedule(gateway)
  const sealed = { sealedOptions: 'a..b.c.d', optionsObject: 'schedules/acme/x.jwe', hiddenOptions: ['headers', 'styles'] }
  Object.assign(schedule.spec.template, sealed)
  const { body } = await calling(gateway)('POST', `/schedules/${id}/run`)
  t.match(gateway.screenshots.objects.get(body.id)?.spec, sealed)
  t.match(body.options, { headers: '***', styles: '…' })
})

t.test('POST /schedules/:id/run of a video costs its units and leads to /videos', async (t) => {
  const gateway = aGateway()
  const { id } = addSchedule(gateway, { template: { url: 'https://example.com/', options: { format: 'mp4', videoDuration: 25 } } })
  const { body, headers } = await calling(gateway)('POST', `/schedules/${id}/run`)
  t.equal(headers.location, `/api/v1/videos/${body.id}`)
  t.equal(gateway.quota.facts(gateway.keys.accounts.get('acme')!, NOW).used, 3)
})

t.test('a repeated Idempotency-Key creates one run, and another schedule does not share it', async (t) => {
  const gateway = aGateway()
  const { id } = addSchedule(gateway)
  const call = calling(gateway)
  const key = { 'idempotency-key': 'once' }
  const first = await call('POST', `/schedules/${id}/run`, undefined, key)
  const second = await call('POST', `/schedules/${id}/run`, undefined, key)
  t.equal(second.body.id, first.body.id)
  t.equal(second.headers['idempotent-replayed'], 'true')
  t.equal(gateway.screenshots.objects.size, 1)
  const { id: other } = addSchedule(gateway)
  t.equal((await call('POST', `/schedules/${other}/run`, undefined, key)).status, 422)
})

t.test('POST /schedules/:id/run is refused when the quota is used up, and for a schedule of another account', async (t) => {
  const gateway = aGateway()
  const { id } = addSchedule(gateway)
  const { id: foreign } = addSchedule(gateway, { accountName: 'other' })
  const call = calling(gateway)
  t.equal((await call('POST', `/schedules/${foreign}/run`)).status, 404)
  t.equal((await call('GET', `/schedules/${foreign}/runs`)).status, 404)
  gateway.quota.set('acme', { limit: 0 })
  t.match(await call('POST', `/schedules/${id}/run`), { status: 429, body: { error: { code: 'USAGE_LIMIT_REACHED' } } })
  t.equal(gateway.screenshots.objects.size, 0)
})

const at = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)

/** Stores an ended run of some minutes ago. Returns its id. */
function addRun({ objects }: Gateway, minutes: number, more: object = {}): string {
  const id = newId('scr', at(minutes), Buffer.alloc(10, minutes))
  const run = {
    version: 1,
    id,
    time: at(minutes).toISOString(),
    outcome: 'completed',
    completionTime: at(minutes - 1).toISOString(),
    ...more,
  }
  objects.objects.set(runKey('acme', 'uid-1', id), JSON.stringify(run))
  return id
}

t.test('GET /schedules/:id/runs lists open and ended runs, the newest first, page by page', async (t) => {
  const gateway = aGateway()
  const { id, schedule } = addSchedule(gateway)
  const ended = [
    addRun(gateway, 10),
    addRun(gateway, 20, { outcome: 'failed', code: 'TIMEOUT' }),
    addRun(gateway, 30, { outcome: 'deleted' }),
  ]
  const open = newId('scr', at(5))
  // The operator has stored the end of a run, and not yet its status.
  schedule.status = {
    active: [
      { id: open, time: at(5).toISOString() },
      { id: ended[0]!, time: at(10).toISOString() },
    ],
  }
  const call = calling(gateway)
  const { body } = await call('GET', `/schedules/${id}/runs`)
  t.strictSame(
    body.data.map((run: { id: string; status: string }) => [run.id, run.status]),
    [
      [open, 'pending'],
      [ended[0], 'completed'],
      [ended[1], 'failed'],
      [ended[2], 'deleted'],
    ],
  )
  t.match(body.data[2], { scheduled_at: at(20).toISOString(), completed_at: at(19).toISOString(), error_code: 'TIMEOUT' })
  t.strictSame(body.pagination, { limit: 100, has_more: false, next_cursor: null })
  const found: string[] = []
  let cursor = ''
  do {
    const page = (await call('GET', `/schedules/${id}/runs?limit=1${cursor && `&cursor=${cursor}`}`)).body
    found.push(...page.data.map((run: { id: string }) => run.id))
    cursor = page.pagination.next_cursor
  } while (cursor)
  t.strictSame(found, [open, ...ended])
})

t.test('GET /schedules/:id/runs leaves out objects that Tintype did not write', async (t) => {
  const ignored: IgnoredObject[] = []
  const gateway = aGateway({ report: (object) => void ignored.push(object) })
  const { id } = addSchedule(gateway)
  const good = addRun(gateway, 10)
  const bad = addRun(gateway, 20, { outcome: 'great' })
  const other = addRun(gateway, 30, { id: good })
  gateway.objects.objects.set('runs/acme/uid-1/note.txt', 'hello')
  const { status, body } = await calling(gateway)('GET', `/schedules/${id}/runs`)
  t.equal(status, 200)
  t.strictSame(
    body.data.map((run: { id: string }) => run.id),
    [good],
  )
  t.strictSame(ignored.map(({ kind, reason, key }) => [kind, reason, key.split('/').at(-1)]).sort(), [
    ['run', 'content', bad],
    ['run', 'id', other],
    ['run', 'key', 'note.txt'],
  ])
})

t.test('GET /schedules/:id/runs refuses a wrong cursor', async (t) => {
  const gateway = aGateway()
  const { id } = addSchedule(gateway)
  t.match(await calling(gateway)('GET', `/schedules/${id}/runs?cursor=1`), {
    status: 400,
    body: { error: { details: [{ path: 'cursor' }] } },
  })
})
