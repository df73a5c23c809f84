import t from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import type { StoredSchedule } from '../../../../crds/src/kinds/screenshot-schedule.ts'
import { chooseRun, findApprovalProblem, isRunOf, waitingRunOf } from '../../../../crds/src/records/approval.ts'
import { baselineKey } from '../../../../crds/src/records/storage-keys.ts'

const [first, second] = [newId('scr', new Date('2026-11-23T08:00:00Z')), newId('scr', new Date('2026-11-24T08:00:00Z'))]
const time = '2026-11-23T08:00:00.000Z'

const aSchedule = (more: { mode?: 'Previous' | 'Approved'; status?: object } = {}): StoredSchedule =>
  ({
    apiVersion: 'tintype.dev/v1alpha1',
    kind: 'ScreenshotSchedule',
    metadata: { name: 'home', namespace: 'tintype', uid: 'uid', resourceVersion: '1', creationTimestamp: time },
    spec: {
      accountName: 'acme',
      schedule: '@daily',
      template: { url: 'https://a.example' },
      comparison: { baseline: more.mode ?? 'Approved' },
    },
    status: { ...more.status },
  }) as StoredSchedule

const baseline = { id: second, key: baselineKey('acme', 'uid', second), etag: 'e', time }
const last = { id: first, to: second, time, changed: true }

t.test('chooseRun takes the named run, older than the approved one or not', async (t) => {
  const schedule = aSchedule({ status: { baseline } })
  t.strictSame(chooseRun(schedule, first), { id: first, isApproved: false })
  t.strictSame(chooseRun(schedule, second), { id: second, isApproved: true })
})

t.test('chooseRun takes the last compared run for latest, else the approved one', async (t) => {
  for (const request of ['', 'latest']) {
    t.strictSame(chooseRun(aSchedule({ status: { baseline, lastComparison: last } }), request), { id: first, isApproved: false })
    t.strictSame(chooseRun(aSchedule({ status: { baseline } }), request, last), { id: first, isApproved: false }, 'newer than the status')
    t.strictSame(chooseRun(aSchedule({ status: { baseline } }), request), { id: second, isApproved: true })
  }
})

t.test('chooseRun takes the run that waits for approval for latest, if none was compared', async (t) => {
  const recentRuns = [
    { id: second, time, outcome: 'completed' as const, unfit: 'http_error' as const },
    { id: first, time, outcome: 'completed' as const },
  ]
  t.strictSame(chooseRun(aSchedule({ status: { recentRuns } }), 'latest'), { id: first, isApproved: false })
  t.strictSame(chooseRun(aSchedule(), 'latest', undefined, recentRuns), { id: first, isApproved: false }, 'newer than the status')
  const comparison = { baseline: 'Approved' as const }
  t.equal(waitingRunOf({ comparison, status: { recentRuns } }), first)
  t.equal(waitingRunOf({ comparison, status: { recentRuns, baseline } }), undefined, 'one was approved')
  t.equal(waitingRunOf({ comparison: {}, status: { recentRuns } }), undefined, 'runs need no approval')
})

t.test('findApprovalProblem lets a person approve a login form, and no error page', async (t) => {
  const run = (unfit: string) => ({ spec: {}, status: { phase: 'Completed', result: { unfit, httpStatus: 404 } } }) as Screenshot
  t.equal(findApprovalProblem(run('login'), aSchedule()), undefined)
  t.match(findApprovalProblem(run('http_error'), aSchedule()), { reason: 'unfit', message: /compare_accept_status/ })
  const accepting = aSchedule()
  accepting.spec.comparison = { acceptStatus: ['400-499'] }
  t.equal(findApprovalProblem(run('http_error'), accepting), undefined)
})

t.test('chooseRun says why a request names no run', async (t) => {
  t.strictSame(chooseRun(aSchedule({ mode: 'Previous', status: { baseline } }), first), { refusal: 'mode' })
  t.strictSame(chooseRun(aSchedule(), 'latest'), { refusal: 'none' })
  t.strictSame(chooseRun(aSchedule(), 'the last one'), { refusal: 'id' })
})

t.test('chooseRun ignores a baseline of the earlier account', async (t) => {
  const schedule = aSchedule({ status: { baseline: { ...baseline, key: baselineKey('other', 'uid', second) } } })
  t.strictSame(chooseRun(schedule, second), { id: second, isApproved: false })
  t.strictSame(chooseRun(schedule, 'latest'), { refusal: 'none' })
})

t.test('isRunOf accepts runs of the schedule in its account', async (t) => {
  const run = (uid: string, accountName: string) =>
    ({
      metadata: { name: toObjectName(first), uid: 'run', resourceVersion: '1', creationTimestamp: time },
      spec: { url: 'https://a.example', accountName, scheduleRef: { name: 'home', uid, time } },
    }) as Screenshot
  t.ok(isRunOf(run('uid', 'acme'), first, aSchedule()))
  t.notOk(isRunOf(run('uid', 'acme'), second, aSchedule()))
  t.notOk(isRunOf(run('another', 'acme'), first, aSchedule()))
  t.notOk(isRunOf(run('uid', 'other'), first, aSchedule()))
})
