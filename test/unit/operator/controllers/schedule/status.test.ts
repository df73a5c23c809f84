import t from 'tap'
import type { RecentRun, ScreenshotScheduleStatus, StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { findCondition } from '../../../../../crds/src/schema/conditions.ts'
import type { Decision } from '../../../../../operator/src/controllers/schedule/decide.ts'
import type { EndedRun } from '../../../../../operator/src/controllers/schedule/ended-run.ts'
import { buildStatus, type Progress } from '../../../../../operator/src/controllers/schedule/status.ts'

const now = new Date('2026-06-01T09:00:05Z')
const decision: Decision = {
  ready: { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' },
  timing: { schedule: '0 * * * *' },
  baseline: { kept: undefined, candidates: [], isLost: false },
  nextTime: new Date('2026-06-01T10:00:00Z'),
}
const aRun = (hour: number, outcome: RecentRun['outcome'] = 'completed', code?: string): RecentRun => ({
  id: `scr_${hour}`,
  time: `2026-06-01T${String(hour).padStart(2, '0')}:00:00.000Z`,
  outcome,
  ...(code === undefined ? {} : { code }),
})

function build(
  { handled, ...progress }: Partial<Progress> & Pick<Decision, 'handled'>,
  status: ScreenshotScheduleStatus = {},
  suspend = false,
  comparison?: StoredSchedule['spec']['comparison'],
) {
  const schedule: StoredSchedule = {
    metadata: {
      name: 'home',
      namespace: 'tintype',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-06-01T00:00:00Z',
      generation: 2,
    },
    spec: { schedule: '0 * * * *', suspend, template: { url: 'https://example.com/' }, ...(comparison ? { comparison } : {}) },
    status,
  }
  return buildStatus(schedule, { ...decision, ...(handled ? { handled } : {}) }, { open: [], ended: [], ...progress }, now)
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

t.test('the last twenty runs stay, newest first, and a success stays in lastSuccessfulTime', async (t) => {
  let status = stored(build({ ended: [aRun(1)] }))
  const hours = [3, 2, ...Array.from({ length: 18 }, (_, index) => index + 4)]
  for (const hour of hours) status = stored(build({ ended: [aRun(hour, 'failed', 'TIMEOUT')] }, status))
  t.strictSame(
    status.recentRuns?.map(({ id }) => id),
    Array.from({ length: 20 }, (_, index) => `scr_${21 - index}`),
  )
  t.equal(status.lastSuccessfulTime, '2026-06-01T01:00:00.000Z')
})

t.test('a run that a person started is the last run, and not the last time of the schedule', async (t) => {
  const open = [{ id: 'scr_9', time: '2026-06-01T09:00:03.000Z' }]
  const before = { lastScheduleTime: '2026-06-01T09:00:00.000Z', lastRunTime: '2026-06-01T09:00:00.000Z' }
  t.match(build({ open }, before), { lastRunTime: open[0]?.time, lastScheduleTime: before.lastScheduleTime })
  t.equal(build({ ended: [aRun(8)] }, before)?.lastRunTime, before.lastRunTime)
})

t.test('the last change stays after later runs that did not change, and is counted once for an approved picture', async (t) => {
  const compared = (hour: number, changed: boolean, changedRatio = 0): EndedRun => ({
    ...aRun(hour),
    shot: {
      metadata: { name: 'run', namespace: 'tintype', uid: 'r', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' },
      spec: { url: 'https://example.com/', options: { compareTo: 'scr_0' } },
      status: { result: { comparison: { changed, changedRatio, changedPixels: changedRatio * 1000 } } },
    },
  })
  const comparison = { threshold: 0.1 }
  const change = { id: 'scr_2', time: aRun(2).time, changedRatio: 0.012, share: '1.2 %' }
  let status = stored(build({ ended: [compared(1, false), compared(2, true, 0.012)] }, {}, false, comparison))
  t.strictSame(status.lastChange, change)
  status = stored(build({ ended: [compared(3, true, 0.012), compared(4, false)] }, status, false, comparison))
  t.strictSame(status.lastChange, change)
  t.equal(build({}, status)?.lastChange, null, 'without a comparison there is none')
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

t.test('LastRunSucceeded has the message of the failed run, also after later reconciles', async (t) => {
  const metadata = { name: 'run', namespace: 'tintype', uid: 'r', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' }
  const error = { code: 'SELECTOR_NOT_FOUND', message: 'no element matches #price' } as const
  const shot = { metadata, spec: { url: 'https://example.com/' }, status: { result: { error } } }
  const messageOf = (patch: ReturnType<typeof build>) => findCondition(patch?.conditions ?? [], 'LastRunSucceeded')?.message
  const first = build({ ended: [{ ...aRun(8, 'failed', error.code), shot }] })
  t.equal(messageOf(first), 'Run scr_8 failed with SELECTOR_NOT_FOUND: no element matches #price')
  t.equal(messageOf(build({ open: [aRun(9)] }, stored(first))), messageOf(first))
  t.equal(messageOf(build({ ended: [aRun(9, 'failed', error.code)] }, stored(first))), 'Run scr_9 failed with SELECTOR_NOT_FOUND.')
})

t.test('the condition Suspended follows the spec', async (t) => {
  t.equal(findCondition(build({}, {}, true)?.conditions ?? [], 'Suspended')?.status, 'True')
  t.equal(findCondition(build({})?.conditions ?? [], 'Suspended')?.status, 'False')
})
