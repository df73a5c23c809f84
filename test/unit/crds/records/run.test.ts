import t from 'tap'
import { newId, scheduleIdOf } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import { type Screenshot, ScreenshotSpec } from '../../../../crds/src/kinds/screenshot.ts'
import { ScheduleTemplate, type StoredSchedule } from '../../../../crds/src/kinds/screenshot-schedule.ts'
import { chooseRun, findApprovalProblem, isRunOf, waitingRunOf } from '../../../../crds/src/records/approval.ts'
import { baselineOf, readRun, runIdOf, toRunSpec } from '../../../../crds/src/records/run.ts'
import { baselineKey, scheduleOptionsKey } from '../../../../crds/src/records/storage-keys.ts'
import { aSchedule, aScreenshot } from '../../../support/fakes/builders.ts'

const time = new Date('2026-06-01T09:00:00Z')
const id = runIdOf('u', time)
const ignored = [{ selector: '#ad', boxes: [] }]
const baseline = { id, time: time.toISOString(), key: baselineKey('default', 'u', id), etag: 'e', ignored }

const hourly = (spec: Partial<StoredSchedule['spec']> = {}, status: NonNullable<StoredSchedule['status']> = {}) =>
  aSchedule({ spec: { template: { url: 'https://example.com/', externalIdentifier: 'x' }, ...spec }, status })
const ref = { name: 'home', uid: 'u', id: scheduleIdOf(hourly().metadata), time: time.toISOString() }

t.test('toRunSpec copies the template, and names account and schedule', async (t) => {
  t.strictSame(toRunSpec(hourly(), time), {
    url: 'https://example.com/',
    externalIdentifier: 'x',
    accountName: 'default',
    scheduleRef: ref,
  })
  t.equal(toRunSpec(hourly({ accountName: 'acme' }), time).accountName, 'acme')
})

t.test('a schedule whose attachment name is refused since an upgrade runs with a name that is not', async (t) => {
  const aTemplate = (attachmentName: string) => hourly({ template: { url: 'https://example.com/', attachmentName } })
  t.equal(toRunSpec(aTemplate('bill\u202egnp.exe'), time).attachmentName, 'bill_gnp.exe')
  t.equal(toRunSpec(aTemplate('مرحبا 👩\u200d🚀.png'), time).attachmentName, 'مرحبا 👩\u200d🚀.png')
})

t.test('toRunSpec adds the comparison, and for the first run only what it must store', async (t) => {
  const comparison = { threshold: 0.01, colorTolerance: 0.2, antialiasing: true, ignore: [{ selector: '#ad' }] }
  const template = { url: 'https://example.com/', options: { fullPage: true } }
  t.strictSame(toRunSpec(hourly({ comparison, template }), time).options, {
    fullPage: true,
    compareIgnore: [{ selector: '#ad' }],
    saveText: true,
  })
  const { options, baseline: kept, scheduleRef } = toRunSpec(hourly({ comparison, template }, { baseline }), time)
  t.strictSame(options, {
    fullPage: true,
    compareIgnore: [{ selector: '#ad' }],
    ...{ compareTo: id, compareThreshold: 0.01, compareColorTolerance: 0.2, compareAntialiasing: true },
  })
  t.strictSame(kept, { key: baseline.key, etag: 'e', ignored })
  t.equal(scheduleRef?.wasFit, true)
  const conditions = [{ type: 'Fit', status: 'False', reason: 'Login', message: '', lastTransitionTime: '2026-11-26T00:00:00.000Z' }]
  t.equal(toRunSpec(hourly({ comparison }, { conditions } as never), time).scheduleRef?.wasFit, false)
  t.strictSame(toRunSpec(hourly({ comparison: {} }, { baseline }), time).options, { compareTo: id })
})

t.test('baselineOf returns only a picture of this schedule in its account', async (t) => {
  t.strictSame(baselineOf(hourly({ comparison: {} }, { baseline })), baseline)
  t.equal(baselineOf(hourly({}, { baseline })), undefined, 'without a comparison')
  t.equal(baselineOf(hourly({ comparison: {}, accountName: 'other' }, { baseline })), undefined)
  t.equal(baselineOf(hourly({ comparison: {} }, { baseline: { ...baseline, key: 'users/default/x.png' } })), undefined)
})

t.test('readRun reads how a run ended and whether it changed', async (t) => {
  const run = { version: 1, id, time: time.toISOString(), outcome: 'completed', changed: true, changedRatio: 0.5 }
  const now = new Date('2026-06-02T00:00:00Z')
  t.strictSame(readRun(JSON.stringify(run), id, now), run)
  t.strictSame(readRun(JSON.stringify({ ...run, unfit: 'blank' }), id, now), { ...run, unfit: 'blank' })
  t.equal(readRun(JSON.stringify({ ...run, changedRatio: 2 }), id, now), 'content')
  t.equal(readRun(JSON.stringify(run), runIdOf('u2', time), now), 'id')
  t.equal(readRun(JSON.stringify(run), id, new Date('2026-05-01T00:00:00Z')), 'time')
})

t.test('a schedule with a name of more than 63 characters, or with dots, says Ready and never runs', async (t) => {
  for (const name of ['n'.repeat(64), 'n'.repeat(253), 'home.page']) {
    const optionsObject = scheduleOptionsKey('a'.repeat(63), name)
    const schedule = hourly({ template: { url: 'https://example.com/', optionsObject } })
    const spec = toRunSpec({ ...schedule, metadata: { ...schedule.metadata, name } }, time)
    t.equal(spec.scheduleRef?.name, name)
    t.strictSame(ScreenshotSpec.safeParse(spec).error, undefined, name)
    t.ok(ScheduleTemplate.safeParse(schedule.spec.template).success, name)
  }
})

const [first, second] = [newId('scr', new Date('2026-11-23T08:00:00Z')), newId('scr', new Date('2026-11-24T08:00:00Z'))]
const approved = { id: second, key: baselineKey('acme', 'u', second), etag: 'e', time: ref.time }
const last = { id: first, to: second, time: ref.time, changed: true }

/** A schedule whose runs need approval. */
const withApproval = (status: object = {}, comparison: StoredSchedule['spec']['comparison'] = { baseline: 'Approved' }) =>
  hourly({ accountName: 'acme', comparison }, status as StoredSchedule['status'])

t.test('chooseRun takes the named run, older than the approved one or not', async (t) => {
  const schedule = withApproval({ baseline: approved })
  t.strictSame(chooseRun(schedule, first), { id: first, isApproved: false })
  t.strictSame(chooseRun(schedule, second), { id: second, isApproved: true })
})

t.test('chooseRun takes the last compared run for latest, else the approved one', async (t) => {
  const schedule = withApproval({ baseline: approved })
  for (const request of ['', 'latest']) {
    t.strictSame(chooseRun(withApproval({ baseline: approved, lastComparison: last }), request), { id: first, isApproved: false })
    t.strictSame(chooseRun(schedule, request, last), { id: first, isApproved: false }, 'newer than the status')
    t.strictSame(chooseRun(schedule, request), { id: second, isApproved: true })
  }
})

t.test('chooseRun takes the run that waits for approval for latest, if none was compared', async (t) => {
  const run = { time: ref.time, outcome: 'completed' as const }
  const recentRuns = [
    { ...run, id: second, unfit: 'http_error' as const },
    { ...run, id: first },
  ]
  t.strictSame(chooseRun(withApproval({ recentRuns }), 'latest'), { id: first, isApproved: false })
  t.strictSame(chooseRun(withApproval(), 'latest', undefined, recentRuns), { id: first, isApproved: false }, 'newer than the status')
  const comparison = { baseline: 'Approved' as const }
  t.equal(waitingRunOf({ comparison, status: { recentRuns } }), first)
  t.equal(waitingRunOf({ comparison, status: { recentRuns, baseline: approved } }), undefined, 'one was approved')
  t.equal(waitingRunOf({ comparison: {}, status: { recentRuns } }), undefined, 'runs need no approval')
})

t.test('findApprovalProblem lets a person approve a login form, and no error page', async (t) => {
  const run = (unfit: string) => ({ spec: {}, status: { phase: 'Completed', result: { unfit, httpStatus: 404 } } }) as Screenshot
  t.equal(findApprovalProblem(run('login'), withApproval()), undefined)
  t.match(findApprovalProblem(run('http_error'), withApproval()), { reason: 'unfit', message: /compare_accept_status/ })
  t.equal(findApprovalProblem(run('http_error'), withApproval({}, { acceptStatus: ['400-499'] })), undefined)
})

t.test('chooseRun says why a request names no run', async (t) => {
  t.strictSame(chooseRun(withApproval({ baseline: approved }, { baseline: 'Previous' }), first), { refusal: 'mode' })
  t.strictSame(chooseRun(withApproval(), 'latest'), { refusal: 'none' })
  t.strictSame(chooseRun(withApproval(), 'the last one'), { refusal: 'id' })
})

t.test('chooseRun ignores a baseline of the earlier account', async (t) => {
  const schedule = withApproval({ baseline: { ...approved, key: baselineKey('other', 'u', second) } })
  t.strictSame(chooseRun(schedule, second), { id: second, isApproved: false })
  t.strictSame(chooseRun(schedule, 'latest'), { refusal: 'none' })
})

t.test('isRunOf accepts runs of the schedule in its account', async (t) => {
  const metadata = { creationTimestamp: '2026-11-23T08:00:00.000Z' }
  const run = (uid: string, accountName: string) =>
    aScreenshot({ name: toObjectName(first), metadata, spec: { accountName, scheduleRef: { name: 'home', uid, time: ref.time } } })
  t.ok(isRunOf(run('u', 'acme'), first, withApproval()))
  t.notOk(isRunOf(run('u', 'acme'), second, withApproval()))
  t.notOk(isRunOf(run('another', 'acme'), first, withApproval()))
  t.notOk(isRunOf(run('u', 'other'), first, withApproval()))
})
