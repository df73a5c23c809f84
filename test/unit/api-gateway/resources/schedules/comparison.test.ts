import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import type { ScreenshotSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { baselineKey, objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { calling } from '../../calling.ts'
import { aGateway, aScreenshot, NOW } from '../../fakes.ts'

type Gateway = ReturnType<typeof aGateway>

const compared = { schedule: '@hourly', url: 'https://example.com/', comparison: { baseline: 'approved' } }
const newest = ({ schedules }: Gateway): ScreenshotSchedule => schedules.objects.at(-1)!
const at = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)

async function create(gateway: Gateway, body: object = compared): Promise<string> {
  const created = await calling(gateway)('POST', '/schedules', body)
  t.equal(created.status, 201, JSON.stringify(created.body))
  return created.body.data.id
}

t.test('POST /schedules stores how runs are compared, and the record shows the defaults', async (t) => {
  const gateway = aGateway()
  const ignore = ['#clock', { x: 0, y: 0, width: 320, height: 60 }]
  const comparison = {
    baseline: 'approved',
    threshold: 0.01,
    color_tolerance: 0.2,
    antialiasing: true,
    ignore,
    accept_status: ['404'],
    approve_first: true,
  }
  const { body } = await calling(gateway)('POST', '/schedules', { ...compared, comparison })
  t.strictSame(newest(gateway).spec.comparison, {
    baseline: 'Approved',
    threshold: 0.01,
    colorTolerance: 0.2,
    antialiasing: true,
    ignore: [{ selector: '#clock' }, { x: 0, y: 0, width: 320, height: 60 }],
    acceptStatus: ['404'],
    approveFirst: true,
  })
  t.strictSame(body.data.comparison, {
    ...{ ...comparison, ignore: [{ selector: '#clock' }, ignore[1]] },
    ...{ baseline_run: null, waiting_run: null, fit: null, approvals: [], last: null },
  })
  const simple = await calling(gateway)('POST', '/schedules', { ...compared, comparison: {} })
  t.match(simple.body.data.comparison, { baseline: 'previous', threshold: null, color_tolerance: 0.1, antialiasing: false, ignore: [] })
})

const refused: { name: string; body: object; details: string[] }[] = [
  { name: 'a threshold above 1', body: { comparison: { threshold: 1.5 } }, details: ['comparison.threshold too_big'] },
  { name: 'a threshold below 0', body: { comparison: { threshold: -0.1 } }, details: ['comparison.threshold too_small'] },
  { name: 'an unknown baseline', body: { comparison: { baseline: 'last' } }, details: ['comparison.baseline invalid_value'] },
  { name: 'an unknown field', body: { comparison: { tolerance: 1 } }, details: ['comparison.tolerance unknown_field'] },
  { name: 'an empty entry to ignore', body: { comparison: { ignore: [{}] } }, details: ['comparison.ignore[0] invalid_value'] },
  { name: 'a comparison of PDFs', body: { options: { format: 'pdf' } }, details: ['options.format contradiction'] },
  { name: 'a comparison of videos', body: { options: { format: 'mp4' } }, details: ['options.format contradiction'] },
  { name: 'another threshold', body: { options: { compare_threshold: 0.1 } }, details: ['options.compare_threshold contradiction'] },
]
for (const { name, body, details } of refused) {
  t.test(`POST and PATCH refuse ${name} with the reason`, async (t) => {
    const gateway = aGateway()
    const call = calling(gateway)
    const read = (response: { body: { error: { details: { path: string; code: string }[] } } }) =>
      response.body.error.details.map(({ path, code }) => `${path} ${code}`)
    const created = await call('POST', '/schedules', { ...compared, ...body })
    t.equal(created.status, 400)
    t.ok(
      details.every((detail) => read(created).includes(detail)),
      String(read(created)),
    )
    const id = await create(gateway)
    const changed = await call('PATCH', `/schedules/${id}`, body)
    t.equal(changed.status, 400)
    t.ok(
      details.every((detail) => read(changed).includes(detail)),
      String(read(changed)),
    )
    t.notMatch(changed.body.error.message, /template|[a-z][A-Z]/)
  })
}

t.test('PATCH merges the comparison, null restores a default, and null for all of it ends it', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, { ...compared, comparison: { baseline: 'approved', threshold: 0.5, ignore: ['#clock'] } })
  const call = calling(gateway)
  await call('PATCH', `/schedules/${id}`, { comparison: { threshold: 0.2, color_tolerance: 0.3 } })
  const merged = { baseline: 'Approved', threshold: 0.2, colorTolerance: 0.3, ignore: [{ selector: '#clock' }] }
  t.strictSame(newest(gateway).spec.comparison, merged)
  t.match(await call('PATCH', `/schedules/${id}`, { options: { image_width: 10 } }), { status: 400 }, 'with what it has, also ignore')
  await call('PATCH', `/schedules/${id}`, { comparison: { baseline: null, threshold: null, color_tolerance: null, ignore: ['#a'] } })
  t.strictSame(newest(gateway).spec.comparison, { ignore: [{ selector: '#a' }] })
  const { body } = await call('PATCH', `/schedules/${id}`, { comparison: null, options: { format: 'pdf' } })
  t.match(body.data, { comparison: null, options: { format: 'pdf' } })
})

/** Adds a completed run of some minutes ago with a picture. Returns its id. */
function addRun(
  gateway: Gateway,
  minutes: number,
  { result = {}, phase = 'Completed' as const, uid = newest(gateway).metadata.uid } = {},
): string {
  const id = newId('scr', at(minutes), Buffer.alloc(10, minutes))
  const shot = aScreenshot({ id, phase, status: { phase, result: { etag: 'abc', ...result } } })
  const scheduleRef = { name: newest(gateway).metadata.name, uid, time: at(minutes).toISOString() }
  gateway.screenshots.put({ ...shot, spec: { ...shot.spec, scheduleRef } })
  gateway.files.objects.set(objectKey('acme', id, 'png'), Buffer.from('a picture'))
  return id
}

function setBaseline(gateway: Gateway, id: string, minutes: number): void {
  const schedule = newest(gateway)
  const key = baselineKey('acme', schedule.metadata.uid, id)
  schedule.status = { ...schedule.status, baseline: { id, key, etag: 'def', time: at(minutes).toISOString() } }
}

const requestOf = (gateway: Gateway) => newest(gateway).metadata.annotations?.[Annotation.approve]

t.test('a run that a client starts is compared with the baseline', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, { ...compared, comparison: { threshold: 0.2, ignore: ['#clock'] } })
  const earlier = addRun(gateway, 60)
  setBaseline(gateway, earlier, 60)
  const { body } = await calling(gateway)('POST', `/schedules/${id}/run`)
  t.match(gateway.screenshots.objects.get(body.id)?.spec, {
    options: { compareTo: earlier, compareThreshold: 0.2, compareIgnore: [{ selector: '#clock' }] },
    baseline: { key: baselineKey('acme', newest(gateway).metadata.uid, earlier), etag: 'def' },
  })
})

t.test('POST /schedules/:id/approve asks the operator to keep the picture of a run', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway)
  const run = addRun(gateway, 10)
  const { status, body } = await calling(gateway)('POST', `/schedules/${id}/approve`, { run_id: run })
  t.strictSame(
    { status, body },
    {
      status: 202,
      body: { message: 'Run approved. Later runs are compared with its picture.', data: { run_id: run } },
    },
  )
  t.equal(requestOf(gateway), run)
})

t.test('POST /schedules/:id/approve means the last compared run by default, and a second approval changes nothing', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway)
  const [first, last] = [addRun(gateway, 20), addRun(gateway, 10)]
  setBaseline(gateway, first, 20)
  newest(gateway).status!.lastComparison = { id: last, time: at(10).toISOString(), to: first, changed: true }
  const call = calling(gateway)
  t.match((await call('GET', `/schedules/${id}`)).body.data.comparison, {
    baseline_run: first,
    last: { id: last, to: first, changed: true },
  })
  t.match(await call('POST', `/schedules/${id}/approve`), { status: 202, body: { data: { run_id: last } } })
  t.equal(requestOf(gateway), last)
  // The operator has applied it.
  delete newest(gateway).metadata.annotations![Annotation.approve]
  setBaseline(gateway, last, 10)
  t.match(await call('POST', `/schedules/${id}/approve`, { run_id: 'latest' }), { status: 202, body: { data: { run_id: last } } })
  t.equal(requestOf(gateway), undefined)
})

t.test('POST /schedules/:id/approve takes back an approval with an older run', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway)
  const [older, approved] = [addRun(gateway, 30), addRun(gateway, 20)]
  setBaseline(gateway, approved, 20)
  const call = calling(gateway)
  t.match(await call('POST', `/schedules/${id}/approve`, { run_id: older }), { status: 202, body: { data: { run_id: older } } })
  t.equal(requestOf(gateway), older)
  t.match(await call('POST', `/schedules/${id}/approve`, { run_id: approved }), { status: 202 })
  t.equal(requestOf(gateway), approved, 'the last request counts, also before the operator has seen the first')
})

t.test('POST /schedules/:id/approve refuses runs that cannot be compared with', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway)
  const call = calling(gateway)
  const approve = async (run?: string) => {
    const { status, body } = await call('POST', `/schedules/${id}/approve`, run === undefined ? undefined : { run_id: run })
    return `${status} ${body.error?.code}`
  }
  t.equal(await approve(), '409 CONFLICT', 'no run yet')
  t.equal(await approve('home'), '400 VALIDATION_ERROR')
  t.equal(await approve(newId('scr', NOW)), '404 NOT_FOUND')
  t.equal(await approve(addRun(gateway, 5, { uid: 'another-schedule' })), '404 NOT_FOUND')
  t.equal(await approve(addRun(gateway, 6, { phase: 'Pending' as never })), '409 NOT_READY')
  t.equal(await approve(addRun(gateway, 7, { phase: 'Failed' as never })), '422 NOT_COMPARABLE')
  t.equal(await approve(addRun(gateway, 8, { result: { unfit: 'blank' } })), '422 NOT_COMPARABLE')
  const gone = addRun(gateway, 9)
  gateway.files.objects.delete(objectKey('acme', gone, 'png'))
  t.equal(await approve(gone), '410 EXPIRED')
  t.equal(requestOf(gateway), undefined)
  const unapproved = await create(gateway, { ...compared, comparison: { baseline: 'previous' } })
  const response = await call('POST', `/schedules/${unapproved}/approve`)
  t.match(response, { status: 409, body: { error: { code: 'CONFLICT', message: /set comparison.baseline to approved first/ } } })
})

/** The history after an approval of a run that replaced the picture of another one. */
function setApproval(gateway: Gateway, { id, replaced, ...more }: { id: string; replaced?: string; etag?: string; undoneTime?: string }) {
  const { etag = 'def', ...others } = more
  const before = replaced === undefined ? {} : { replaced: { id: replaced, time: at(30).toISOString(), ...(etag === '' ? {} : { etag }) } }
  const approval = { id, approvalTime: at(5).toISOString(), by: 'key_1', ...before, ...others }
  newest(gateway).status = { ...newest(gateway).status, approvals: [approval] }
}

t.test('the record shows who approved which run, and which one it replaced', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway)
  const [first, second] = [addRun(gateway, 30), addRun(gateway, 20)]
  setApproval(gateway, { id: second, replaced: first })
  const shown = async () => (await calling(gateway)('GET', `/schedules/${id}`)).body.data.comparison.approvals
  const expected = { run_id: second, approved_at: at(5).toISOString(), approved_by: 'key_1', replaced_run: first }
  t.strictSame(await shown(), [{ ...expected, can_undo: true, undone_at: null, undone_by: null }])
  setApproval(gateway, { id: second, replaced: first, etag: '' })
  t.match(await shown(), [{ can_undo: false }], 'the picture is gone')
  setApproval(gateway, { id: second, replaced: first, undoneTime: at(1).toISOString() })
  t.match(await shown(), [{ can_undo: false, undone_at: at(1).toISOString() }])
})

t.test('POST /schedules/:id/undo-approval names the approval that the operator undoes, and who asks for it', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway)
  const [first, second] = [addRun(gateway, 30), addRun(gateway, 20)]
  setApproval(gateway, { id: second, replaced: first })
  const undo = () => calling(gateway)('POST', `/schedules/${id}/undo-approval`)
  for (let again = 0; again < 2; again++) {
    t.match(await undo(), { status: 202, body: { data: { run_id: second, baseline_run: first } } })
    t.equal(requestOf(gateway), `undo/${at(5).toISOString()}`)
  }
  t.match(newest(gateway).metadata.annotations?.[Annotation.approvedBy], /^key_/)
  setApproval(gateway, { id: first })
  t.match(await undo(), { status: 202, body: { data: { run_id: first, baseline_run: null } } })
})

t.test('POST /schedules/:id/undo-approval says why nothing can be undone', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway)
  const undo = () => calling(gateway)('POST', `/schedules/${id}/undo-approval`)
  t.match(await undo(), { status: 409, body: { error: { code: 'CONFLICT', message: /no approval to undo/ } } })
  const [first, second] = [addRun(gateway, 30), addRun(gateway, 20)]
  setApproval(gateway, { id: second, replaced: first, etag: '' })
  t.match(await undo(), { status: 410, body: { error: { code: 'EXPIRED', message: /is gone: an approval can be undone for 30 days/ } } })
  newest(gateway).spec.comparison = { baseline: 'Previous' }
  t.match(await undo(), { status: 409, body: { error: { message: /need no approval/ } } })
  t.equal((await calling(gateway)('POST', '/schedules/sch_01kajq2v0vtz8m3c5x7r9w4n6p/undo-approval')).status, 404)
})
