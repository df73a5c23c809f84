import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { IgnoredObject } from '../../../../../crds/src/records/ignored-objects.ts'
import { runKey } from '../../../../../crds/src/records/storage-keys.ts'
import { NOW } from '../../fakes.ts'
import { listed } from '../../requests.ts'
import { aScheduleGateway, at, url } from './schedule-gateway.ts'

type Gateway = ReturnType<typeof aScheduleGateway>

t.test('POST /schedules/:id/run creates a Screenshot that belongs to the schedule and is charged', async (t) => {
  const gateway = aScheduleGateway()
  const { call, screenshots, quota } = gateway
  const { id, path, schedule } = gateway.add({ suspend: true })
  const { status, body, headers } = await call('POST', `${path}/run`)
  t.equal(status, 202)
  t.match(body, { url, status: 'pending', options: { full_page: true }, created_at: NOW.toISOString() })
  t.match(headers, { location: `/api/v1/screenshots/${body.id}`, 'retry-after': '2', 'x-queue-position': '1' })
  const { spec } = screenshots.objects.get(body.id)!
  t.match(spec, {
    ...{ url, accountName: 'acme', externalIdentifier: 'home', options: { fullPage: true } },
    scheduleRef: { name: schedule.metadata.name, uid: 'uid-1', time: NOW.toISOString() },
    reservation: /^res_/,
  })
  t.strictSame(quota.settled, [spec.reservation])
  t.equal((await call('GET', `/screenshots/${body.id}`)).body.schedule_id, id, 'the record names its schedule')
  t.equal(gateway.quota.used, 1)
})

t.test('POST /schedules/:id/run refuses fields, because a run takes everything from its schedule, or drops and lists them', async (t) => {
  const { call, add } = aScheduleGateway()
  const run = (body: object, headers = {}) => call('POST', `${path}/run`, body, headers)
  const { path } = add()
  const other = { url: 'https://other.example.com/' }
  t.match(await run(other), { status: 400, body: { error: { message: 'url is not known here' } } })
  t.equal((await run({})).status, 202)
  t.match(await run(other, { prefer: 'handling=lenient' }), { status: 202, headers: { 'x-ignored-options': 'url' } })
})

t.test('POST /schedules/:id/run passes on what is sealed to the schedule', async (t) => {
  const { call, add, screenshots } = aScheduleGateway()
  const sealed = { sealedOptions: 'a..b.c.d', optionsObject: 'schedules/acme/x.jwe', hiddenOptions: ['headers', 'styles'] }
  const { path } = add({ template: { url, ...sealed } })
  const { body } = await call('POST', `${path}/run`)
  t.match(screenshots.objects.get(body.id)?.spec, sealed)
  t.match(body.options, { headers: '***', styles: '…' })
})

t.test('POST /schedules/:id/run of a video costs its units and leads to /videos', async (t) => {
  const gateway = aScheduleGateway()
  const { path } = gateway.add({ template: { url, options: { format: 'mp4', videoDuration: 25 } } })
  const { body, headers } = await gateway.call('POST', `${path}/run`)
  t.equal(headers.location, `/api/v1/videos/${body.id}`)
  t.equal(gateway.quota.used, 3)
})

t.test('a repeated Idempotency-Key creates one run, and another schedule does not share it', async (t) => {
  const { call, add, screenshots } = aScheduleGateway()
  const run = (path: string) => call('POST', `${path}/run`, undefined, { 'idempotency-key': 'once' })
  const { path } = add()
  const first = await run(path)
  t.match(await run(path), { headers: { 'idempotent-replayed': 'true' }, body: { id: first.body.id } })
  t.equal(screenshots.objects.size, 1)
  t.equal((await run(add().path)).status, 422)
})

/** Stores an ended run of some minutes ago. Returns its id. */
function addRun({ objects }: Gateway, minutes: number, more: object = {}): string {
  const id = newId('scr', at(minutes), Buffer.alloc(10, minutes))
  const times = { time: at(minutes).toISOString(), completionTime: at(minutes - 1).toISOString() }
  objects.objects.set(runKey('acme', 'uid-1', id), JSON.stringify({ version: 1, id, outcome: 'completed', ...times, ...more }))
  return id
}

t.test('GET /schedules/:id/runs lists open and ended runs, the newest first, page by page', async (t) => {
  const gateway = aScheduleGateway()
  const { path } = gateway.add()
  const ended = [
    addRun(gateway, 10),
    addRun(gateway, 20, { outcome: 'failed', code: 'TIMEOUT' }),
    addRun(gateway, 30, { outcome: 'deleted' }),
  ]
  const open = newId('scr', at(5))
  // The operator has stored the end of a run, and not yet its status.
  const [first = ''] = ended
  const active = [
    { id: open, time: at(5).toISOString() },
    { id: first, time: at(10).toISOString() },
  ]
  gateway.schedules.change((schedule) => (schedule.status = { active }))
  const runs = await gateway.call('GET', `${path}/runs`)
  t.strictSame(listed(runs), [open, ...ended])
  t.strictSame(listed(runs, 'status'), ['pending', 'completed', 'failed', 'deleted'])
  const times = { scheduled_at: at(20).toISOString(), completed_at: at(19).toISOString() }
  t.match(runs.body.data[2], { ...times, error_code: 'TIMEOUT' })
  t.strictSame(runs.body.pagination, { limit: 100, has_more: false, next_cursor: null })
  const found: string[] = []
  let cursor = ''
  do {
    const page = await gateway.call('GET', `${path}/runs?limit=1${cursor && `&cursor=${cursor}`}`)
    found.push(...listed(page))
    cursor = page.body.pagination.next_cursor
  } while (cursor)
  t.strictSame(found, [open, ...ended])
})

t.test('GET /schedules/:id/runs leaves out objects that Tintype did not write', async (t) => {
  const ignored: IgnoredObject[] = []
  const gateway = aScheduleGateway({ report: (object) => void ignored.push(object) })
  const { path } = gateway.add()
  const good = addRun(gateway, 10)
  const bad = addRun(gateway, 20, { outcome: 'great' })
  const other = addRun(gateway, 30, { id: good })
  gateway.objects.objects.set('runs/acme/uid-1/note.txt', 'hello')
  const runs = await gateway.call('GET', `${path}/runs`)
  t.equal(runs.status, 200)
  t.strictSame(listed(runs), [good])
  t.strictSame(ignored.map(({ kind, reason, key }) => [kind, reason, key.split('/').at(-1)]).sort(), [
    ['run', 'content', bad],
    ['run', 'id', other],
    ['run', 'key', 'note.txt'],
  ])
})

t.test('GET /schedules/:id/runs refuses a wrong cursor', async (t) => {
  const { call, add } = aScheduleGateway()
  t.match(await call('GET', `${add().path}/runs?cursor=1`), { status: 400, body: { error: { details: [{ path: 'cursor' }] } } })
})
