import t from 'tap'
import type { RecentRun, ScreenshotScheduleStatus, StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { findCondition } from '../../../../../crds/src/schema/conditions.ts'
import type { Decision } from '../../../../../operator/src/controllers/schedule/decide.ts'
import { buildStatus, type Progress } from '../../../../../operator/src/controllers/schedule/status.ts'

const now = new Date('2026-06-01T09:00:05Z')
const decision: Decision = {
  ready: { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' },
  nextTime: new Date('2026-06-01T10:00:00Z'),
}
const aRun = (hour: number, outcome: RecentRun['outcome'] = 'completed', code?: string): RecentRun => ({
  id: `scr_${hour}`,
  time: `2026-06-01T0${hour}:00:00.000Z`,
  outcome,
  ...(code === undefined ? {} : { code }),
})

function build(progress: Partial<Progress>, status: ScreenshotScheduleStatus = {}, suspend = false) {
  const schedule: StoredSchedule = {
    metadata: {
      name: 'home',
      namespace: 'tintype',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-06-01T00:00:00Z',
      generation: 2,
    },
    spec: { schedule: '0 * * * *', suspend, template: { url: 'https://example.com/' } },
    status,
  }
  return buildStatus(schedule, decision, { open: [], ended: [], ...progress }, now)
}

/** As the API server stores a patch. */
const stored = (patch: object | undefined): ScreenshotScheduleStatus =>
  JSON.parse(JSON.stringify(patch), (_, value) => (value === null ? undefined : value))

t.test('a created run is active, and its time is the last one', async (t) => {
  const open = [{ id: 'scr_9', time: '2026-06-01T09:00:00.000Z' }]
  const patch = build({ open, handled: new Date('2026-06-01T09:00:00Z') })
  t.match(patch, {
    active: open,
    lastScheduleTime: '2026-06-01T09:00:00.000Z',
    nextScheduleTime: '2026-06-01T10:00:00.000Z',
    recentRuns: null,
  })
  t.equal(findCondition(patch?.conditions ?? [], 'Ready')?.observedGeneration, 2)
})

t.test('nothing is written when nothing changed, in whatever order the fields come', async (t) => {
  const status = stored(build({ ended: [aRun(8)] }))
  t.equal(build({}, status), undefined)
  t.equal(build({}, { ...status, recentRuns: status.recentRuns?.map(({ id, time, outcome }) => ({ outcome, time, id })) }), undefined)
  t.ok(build({}, status, true))
})

t.test('the last three runs stay, newest first, and a success stays in lastSuccessfulTime', async (t) => {
  let status = stored(build({ ended: [aRun(1)] }))
  for (const hour of [3, 2, 4]) status = stored(build({ ended: [aRun(hour, 'failed', 'TIMEOUT')] }, status))
  t.strictSame(
    status.recentRuns?.map(({ id }) => id),
    ['scr_4', 'scr_3', 'scr_2'],
  )
  t.equal(status.lastSuccessfulTime, '2026-06-01T01:00:00.000Z')
})

for (const [outcome, code, status, reason] of [
  ['completed', undefined, 'True', 'Completed'],
  ['failed', 'DNS_ERROR', 'False', 'DnsError'],
  ['failed', undefined, 'False', 'InternalError'],
  ['deleted', undefined, 'Unknown', 'Deleted'],
] as const) {
  t.test(`a run that ended as ${outcome} ${code ?? ''} sets LastRunSucceeded to ${status}`, async (t) => {
    const patch = build({ ended: [aRun(8, outcome, code)] })
    t.match(findCondition(patch?.conditions ?? [], 'LastRunSucceeded'), { status, reason })
  })
}

t.test('the condition Suspended follows the spec', async (t) => {
  t.equal(findCondition(build({}, {}, true)?.conditions ?? [], 'Suspended')?.status, 'True')
  t.equal(findCondition(build({})?.conditions ?? [], 'Suspended')?.status, 'False')
})
