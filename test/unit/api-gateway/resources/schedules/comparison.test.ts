import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import { baselineKey, objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { aScreenshot, NOW } from '../../fakes.ts'
import { aScheduleGateway, at, hourly } from './schedule-gateway.ts'

/** A gateway with a schedule whose runs are compared. */
async function start(comparison: object = {}) {
  const gateway = aScheduleGateway()
  const { call, newest, schedules, screenshots, files } = gateway
  const created = await gateway.create({ ...hourly, comparison: { baseline: 'approved', ...comparison } })
  /** Adds a run of some minutes ago with a picture. Returns its id. */
  const addRun = (minutes: number, { result = {}, phase = 'Completed', uid = newest().metadata.uid } = {}): string => {
    const id = newId('scr', at(minutes), Buffer.alloc(10, minutes))
    const shot = aScreenshot({
      id,
      phase: phase as 'Completed',
      status: { phase: phase as 'Completed', result: { etag: 'abc', ...result } },
    })
    const scheduleRef = { name: newest().metadata.name, uid, time: at(minutes).toISOString() }
    screenshots.put({ ...shot, spec: { ...shot.spec, scheduleRef } })
    files.objects.set(objectKey('acme', id, 'png'), Buffer.from('a picture'))
    return id
  }
  const baselineOf = (id: string) => baselineKey('acme', newest().metadata.uid, id)
  /** As the operator does when it has applied an approval. */
  const setBaseline = (id: string, minutes: number): void => {
    const baseline = { id, key: baselineOf(id), etag: 'def', time: at(minutes).toISOString() }
    schedules.change((schedule) => {
      delete schedule.metadata.annotations?.[Annotation.approve]
      schedule.status = { ...schedule.status, baseline }
    })
  }
  /** The history after an approval of a run that replaced the picture of another one. An empty `etag`: that picture is gone. */
  const setApproval = ({ id, replaced, etag = 'def', ...more }: { id: string; replaced?: string; etag?: string; undoneTime?: string }) => {
    const before = { id: replaced ?? '', time: at(30).toISOString(), ...(etag === '' ? {} : { etag }) }
    const approval = {
      id,
      approvalTime: at(5).toISOString(),
      by: 'key_1',
      ...(replaced === undefined ? {} : { replaced: before }),
      ...more,
    }
    schedules.change((schedule) => (schedule.status = { ...schedule.status, approvals: [approval] }))
  }
  const requested = () => newest().metadata.annotations?.[Annotation.approve]
  const approve = (run_id?: string) => call('POST', `${created.path}/approve`, run_id === undefined ? undefined : { run_id })
  const undo = () => call('POST', `${created.path}/undo-approval`)
  return { ...gateway, ...created, addRun, baselineOf, setBaseline, setApproval, requested, approve, undo }
}

t.test('POST /schedules stores how runs are compared, and the record shows the defaults', async (t) => {
  const { call, newest } = aScheduleGateway()
  const ignore = ['#clock', { x: 0, y: 0, width: 320, height: 60 }]
  const same = { threshold: 0.01, antialiasing: true }
  const shown = { ...same, baseline: 'approved', color_tolerance: 0.2, accept_status: ['404'], approve_first: true }
  const stored = { ...same, baseline: 'Approved', colorTolerance: 0.2, acceptStatus: ['404'], approveFirst: true }
  const { body } = await call('POST', '/schedules', { ...hourly, comparison: { ...shown, ignore } })
  const ignored = [{ selector: '#clock' }, ignore[1]]
  t.strictSame(newest().spec.comparison, { ...stored, ignore: ignored })
  const state = { baseline_run: null, waiting_run: null, fit: null, approvals: [], last: null }
  t.strictSame(body.data.comparison, { ...shown, ignore: ignored, ...state })
  const simple = await call('POST', '/schedules', { ...hourly, comparison: {} })
  t.match(simple.body.data.comparison, { baseline: 'previous', threshold: null, color_tolerance: 0.1, antialiasing: false, ignore: [] })
})

t.test('PATCH merges the comparison, null restores a default, and null for all of it ends it', async (t) => {
  const { patch, newest } = await start({ threshold: 0.5, ignore: ['#clock'] })
  await patch({ comparison: { threshold: 0.2, color_tolerance: 0.3 } })
  const merged = { baseline: 'Approved', threshold: 0.2, colorTolerance: 0.3, ignore: [{ selector: '#clock' }] }
  t.strictSame(newest().spec.comparison, merged)
  t.equal((await patch({ options: { image_width: 10 } })).status, 400, 'with what it has, also ignore')
  await patch({ comparison: { baseline: null, threshold: null, color_tolerance: null, ignore: ['#a'] } })
  t.strictSame(newest().spec.comparison, { ignore: [{ selector: '#a' }] })
  const { body } = await patch({ comparison: null, options: { format: 'pdf' } })
  t.match(body.data, { comparison: null, options: { format: 'pdf' } })
})

t.test('a run that a client starts is compared with the baseline', async (t) => {
  const { call, path, screenshots, addRun, baselineOf, setBaseline } = await start({ threshold: 0.2, ignore: ['#clock'] })
  const earlier = addRun(60)
  setBaseline(earlier, 60)
  const { body } = await call('POST', `${path}/run`)
  t.match(screenshots.objects.get(body.id)?.spec, {
    options: { compareTo: earlier, compareThreshold: 0.2, compareIgnore: [{ selector: '#clock' }] },
    baseline: { key: baselineOf(earlier), etag: 'def' },
  })
})

t.test('POST /schedules/:id/approve means the last compared run by default, and a second approval changes nothing', async (t) => {
  const { get, schedules, addRun, setBaseline, approve, requested } = await start()
  const [first, last] = [addRun(20), addRun(10)]
  setBaseline(first, 20)
  const lastComparison = { id: last, time: at(10).toISOString(), to: first, changed: true }
  schedules.change(({ status }) => Object.assign(status!, { lastComparison }))
  t.match((await get()).comparison, { baseline_run: first, last: { id: last, to: first, changed: true } })
  t.match(await approve(), { status: 202, body: { data: { run_id: last } } })
  t.equal(requested(), last)
  setBaseline(last, 10)
  t.match(await approve('latest'), { status: 202, body: { data: { run_id: last } } })
  t.equal(requested(), undefined)
})

t.test('POST /schedules/:id/approve takes back an approval with an older run', async (t) => {
  const { addRun, setBaseline, approve, requested } = await start()
  const [older, approved] = [addRun(30), addRun(20)]
  setBaseline(approved, 20)
  const message = 'Run approved. Later runs are compared with its picture.'
  t.match(await approve(older), { status: 202, body: { message, data: { run_id: older } } })
  t.equal(requested(), older)
  t.equal((await approve(approved)).status, 202)
  t.equal(requested(), approved, 'the last request counts, also before the operator has seen the first')
})

t.test('POST /schedules/:id/approve refuses runs that cannot be compared with', async (t) => {
  const { addRun, files, schedules, requested, approve } = await start()
  const outcomeOf = async (run?: string) => {
    const { status, body } = await approve(run)
    return `${status} ${body.error?.code}`
  }
  t.equal(await outcomeOf(), '409 CONFLICT', 'no run yet')
  t.equal(await outcomeOf('home'), '400 VALIDATION_ERROR')
  t.equal(await outcomeOf(newId('scr', NOW)), '404 NOT_FOUND')
  t.equal(await outcomeOf(addRun(5, { uid: 'another-schedule' })), '404 NOT_FOUND')
  t.equal(await outcomeOf(addRun(6, { phase: 'Pending' })), '409 NOT_READY')
  t.equal(await outcomeOf(addRun(8, { result: { unfit: 'blank' } })), '422 NOT_COMPARABLE')
  const gone = addRun(9)
  files.objects.delete(objectKey('acme', gone, 'png'))
  t.equal(await outcomeOf(gone), '410 EXPIRED')
  t.equal(requested(), undefined)
  schedules.change(({ spec }) => (spec.comparison = { baseline: 'Previous' }))
  const error = { code: 'CONFLICT', message: /set comparison.baseline to approved first/ }
  t.match(await approve(), { status: 409, body: { error } })
})

t.test('the record shows who approved which run, and which one it replaced', async (t) => {
  const { get, addRun, setApproval } = await start()
  const [first, second] = [addRun(30), addRun(20)]
  const shown = async () => (await get()).comparison.approvals
  setApproval({ id: second, replaced: first })
  const expected = { run_id: second, approved_at: at(5).toISOString(), approved_by: 'key_1', replaced_run: first }
  t.strictSame(await shown(), [{ ...expected, can_undo: true, undone_at: null, undone_by: null }])
  setApproval({ id: second, replaced: first, etag: '' })
  t.match(await shown(), [{ can_undo: false }], 'the picture is gone')
  setApproval({ id: second, replaced: first, undoneTime: at(1).toISOString() })
  t.match(await shown(), [{ can_undo: false, undone_at: at(1).toISOString() }])
})

t.test('POST /schedules/:id/undo-approval names the approval that the operator undoes, and who asks for it', async (t) => {
  const { newest, addRun, setApproval, requested, undo } = await start()
  const [first, second] = [addRun(30), addRun(20)]
  setApproval({ id: second, replaced: first })
  for (let again = 0; again < 2; again++) {
    t.match(await undo(), { status: 202, body: { data: { run_id: second, baseline_run: first } } })
    t.equal(requested(), `undo/${at(5).toISOString()}`)
  }
  t.match(newest().metadata.annotations?.[Annotation.approvedBy], /^key_/)
  setApproval({ id: first })
  t.match(await undo(), { status: 202, body: { data: { run_id: first, baseline_run: null } } })
})

t.test('POST /schedules/:id/undo-approval says why nothing can be undone', async (t) => {
  const { call, schedules, addRun, setApproval, undo } = await start()
  t.match(await undo(), { status: 409, body: { error: { code: 'CONFLICT', message: /no approval to undo/ } } })
  const [first, second] = [addRun(30), addRun(20)]
  setApproval({ id: second, replaced: first, etag: '' })
  t.match(await undo(), { status: 410, body: { error: { code: 'EXPIRED', message: /is gone: an approval can be undone for 30 days/ } } })
  schedules.change(({ spec }) => (spec.comparison = { baseline: 'Previous' }))
  t.match(await undo(), { status: 409, body: { error: { message: /need no approval/ } } })
  t.equal((await call('POST', '/schedules/sch_01kajq2v0vtz8m3c5x7r9w4n6p/undo-approval')).status, 404)
})
