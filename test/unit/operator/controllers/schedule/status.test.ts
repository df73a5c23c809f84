import t from 'tap'
import type { MovingParts, UnfitReason } from '../../../../../crds/src/kinds/comparison.ts'
import type { ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import type {
  RecentRun,
  RunOutcome,
  ScreenshotScheduleSpec,
  ScreenshotScheduleStatus,
  StoredSchedule,
} from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { toRunSpec } from '../../../../../crds/src/records/run.ts'
import { findCondition } from '../../../../../crds/src/schema/conditions.ts'
import {
  describeNewMoving,
  type EndedRun,
  findFitnessChanges,
  fitnessOf,
  toEnded,
  toFitCondition,
  toMoving,
} from '../../../../../operator/src/controllers/schedule/ended-runs.ts'
import { findEvents } from '../../../../../operator/src/controllers/schedule/events.ts'
import { buildStatus, type Decision, type Progress } from '../../../../../operator/src/controllers/schedule/status.ts'
import { aSchedule, aScreenshot, completedStatus, failedStatus } from '../../../../support/fakes/builders.ts'

const now = new Date('2026-06-01T09:00:05Z')
const aDecision = (given: Partial<Decision> = {}): Decision => ({
  ready: { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' },
  timing: { schedule: '0 * * * *' },
  baseline: { kept: undefined, candidates: [], isLost: false },
  ...given,
})
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
  const schedule = aSchedule({ metadata: { generation: 2 }, spec: { suspend, ...(comparison ? { comparison } : {}) }, status })
  return buildStatus(schedule, aDecision(handled ? { handled } : {}), { open: [], ended: [], ...progress }, now)
}

/** As the API server stores a patch. */
const stored = (patch: object | undefined): ScreenshotScheduleStatus =>
  JSON.parse(JSON.stringify(patch), (_, value) => (value === null ? undefined : value))

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
    shot: aScreenshot({
      spec: { options: { compareTo: 'scr_0' } },
      status: { result: { comparison: { changed, changedRatio, changedPixels: changedRatio * 1000 } } },
    }),
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
  const error = { code: 'SELECTOR_NOT_FOUND', message: 'no element matches #price' } as const
  const shot = aScreenshot({ status: { result: { error } } })
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

const pageRun = (hour: number, unfit?: UnfitReason, outcome: RunOutcome = 'completed') => ({
  ...{ id: `scr_${hour}`, time: `2026-11-26T0${hour}:00:00.000Z`, outcome },
  ...(unfit ? { unfit } : {}),
})
const schedule = (status?: 'True' | 'False', comparison: object | undefined = {}) => ({
  spec: { comparison, schedule: '@hourly', template: { url: 'https://example.com/' } },
  status: {
    conditions: status ? [{ type: 'Fit', status, reason: 'PageShown', message: '', lastTransitionTime: '2026-11-26T00:00:00.000Z' }] : [],
  },
})
const changes = (of: ReturnType<typeof schedule>, ...runs: ReturnType<typeof pageRun>[]) => findFitnessChanges(of, runs).map(({ id }) => id)

t.test('a page that stays unfit was reported with each run', async (t) => {
  t.strictSame(changes(schedule('False'), pageRun(2, 'login')), [], 'another reason')
  t.strictSame(
    changes(schedule('True'), pageRun(3, 'blank'), pageRun(1), pageRun(2, 'blank'), pageRun(4)),
    ['scr_2', 'scr_4'],
    'in the order of the runs',
  )
  t.strictSame(changes(schedule('True'), pageRun(1, undefined, 'failed'), pageRun(2, undefined, 'deleted')), [], 'only completed runs tell')
  t.strictSame(
    findFitnessChanges({ spec: { ...schedule().spec, comparison: undefined } }, [pageRun(1, 'blank')]),
    [],
    'nothing is compared',
  )
})

t.test('fitnessOf finds the run that decides the condition Fit', async (t) => {
  t.equal(fitnessOf(schedule(), [pageRun(2), pageRun(3, 'blank'), pageRun(1)])?.id, 'scr_3')
  t.equal(fitnessOf(schedule(), [pageRun(1, undefined, 'failed')]), undefined)
  t.equal(fitnessOf({ spec: { ...schedule().spec, comparison: undefined } }, [pageRun(1)]), undefined)
  t.match(toFitCondition(pageRun(1)), { type: 'Fit', status: 'True', reason: 'PageShown' })
  t.match(toFitCondition(pageRun(1, 'http_error')), {
    status: 'False',
    reason: 'HttpError',
    message: 'Run scr_1 shows an error page. It is not compared.',
  })
})

const inZurich = (status: ScreenshotScheduleStatus = {}, spec: Partial<ScreenshotScheduleSpec> = {}) =>
  aSchedule({ spec: { timeZone: 'Europe/Zurich', ...spec }, status })
const found = (schedule: StoredSchedule, given: Partial<Decision> = {}) =>
  findEvents(schedule, aDecision(given), [], schedule).map(({ type, reason, once }) => `${type} ${reason}${once ? ' once' : ''}`)
const at = new Date('2026-06-01T09:00:00Z')

t.test('the Event for a change without other words did not say where it is', async (t) => {
  const [small, large] = [
    { x: 8, y: 9_000, width: 4, height: 4 },
    { x: 96, y: 240, width: 61, height: 16 },
  ]
  const messageOf = (comparison: object) => {
    const result = {
      format: 'png',
      etag: 'e',
      comparison: { changed: true, changedRatio: 0.0004, changedPixels: 500, ...comparison },
    } as const
    const shot = aScreenshot({
      spec: { accountName: 'acme', scheduleRef: { name: 'home', uid: 'u', time: at.toISOString() }, options: { compareTo: 'scr_1' } },
      status: completedStatus({ result }),
    })
    const schedule = inZurich({}, { comparison: {} })
    return findEvents(schedule, aDecision(), [toEnded(shot)], schedule).find(({ reason }) => reason === 'Changed')?.message
  }
  t.match(
    messageOf({ regions: [large], regionCount: 1, textChanged: false }),
    /of the pixels\. The change is 61 × 16 at 96, 240\. The text is/,
  )
  t.match(messageOf({ regions: [large, small], regionCount: 2 }), /of the pixels\. The largest of 2 changes is 61 × 16 at 96, 240\.$/)
  t.match(messageOf({ regions: [], regionCount: 0 }), /of the pixels\.$/)
})

for (const [what, schedule, given, expected] of [
  ['one for a missed run', inZurich(), { missed: at }, ['warn RunMissed once']],
  ['one for a run that waits', inZurich(), { waiting: at }, ['warn RunWaiting once']],
  ['one for a skipped run', inZurich(), { skipped: '2026-03-29 02:30', nextTime: at }, ['warn RunSkipped']],
  ['none if it was reported with the next run', inZurich({ nextScheduleTime: at.toISOString() }), { skipped: 'x', nextTime: at }, []],
  ['one for a lost picture', inZurich(), { baseline: { kept: undefined, candidates: [], isLost: true } }, ['warn BaselineLost']],
] as const) {
  t.test(`findEvents finds ${what}`, async (t) => t.strictSame(found(schedule, given), expected))
}

const movingRun = (
  hour: number,
  moving?: MovingParts,
  { status = completedStatus({ result: moving ? { moving } : {} }), before }: { status?: ScreenshotStatus; before?: MovingParts } = {},
): EndedRun => {
  const scheduleRef = { name: 'home', uid: 'u', time: `2026-06-01T0${hour}:00:00.000Z`, ...(before ? { moving: before } : {}) }
  return toEnded(aScreenshot({ spec: { scheduleRef }, status }))
}

const movingSchedule = (moving?: MovingParts, comparison: StoredSchedule['spec']['comparison'] | null = {}) =>
  aSchedule({ spec: comparison ? { comparison } : {}, status: moving ? { moving } : {} })

const TICKER = { elements: ['#ticker'] }

t.test('each run of a page that never rests waited to the end: the next run gets what moved in the last one', async (t) => {
  t.strictSame(toMoving(movingSchedule(), [movingRun(2, TICKER), movingRun(1)]), { ...TICKER, runs: 0 })
  t.strictSame(toMoving(movingSchedule(TICKER), []), TICKER)
  t.equal(toMoving(movingSchedule(TICKER), [movingRun(1)]), undefined, 'the page rests again')
  t.strictSame(
    toMoving(movingSchedule(TICKER), [movingRun(1, undefined, { status: failedStatus() })]),
    TICKER,
    'a failed run shows nothing',
  )
  t.equal(toMoving(movingSchedule(TICKER, null), [movingRun(1, TICKER)]), undefined, 'runs that are not compared wait briefly')
  const at = new Date('2026-06-01T03:00:00Z')
  t.strictSame(toRunSpec(movingSchedule(TICKER), at).scheduleRef?.moving, TICKER)
  t.equal(toRunSpec(movingSchedule(), at).scheduleRef?.moving, undefined)
})

t.test('a page that looked endless by chance was never waited for again: the tenth run waits for everything', async (t) => {
  const at = new Date('2026-06-01T03:00:00Z')
  let schedule = movingSchedule({ ...TICKER, runs: 0 })
  const isShort: boolean[] = []
  for (let run = 0; run < 11; run++) {
    const before = toRunSpec(schedule, at).scheduleRef?.moving
    isShort.push(before !== undefined)
    schedule = movingSchedule(toMoving(schedule, [movingRun(1, TICKER, before ? { before } : {})]))
  }
  t.strictSame(isShort, [...Array.from({ length: 9 }, () => true), false, true])
})

t.test('an Event suggests once to ignore an element that moves', async (t) => {
  const describe = (schedule: StoredSchedule, ended: EndedRun[]) => describeNewMoving(schedule, ended, toMoving(schedule, ended))
  t.match(
    describe(movingSchedule(), [movingRun(1, TICKER)]),
    /in #ticker\. To leave that out of comparisons, add it to spec\.comparison\.ignore\.$/,
  )
  t.equal(describe(movingSchedule(TICKER), [movingRun(1, TICKER)]), undefined)
  t.equal(describe(movingSchedule(undefined, { ignore: [{ selector: '#ticker' }] }), [movingRun(1, TICKER)]), undefined)
  t.equal(describe(movingSchedule(), [movingRun(1, { elements: [], isEndless: true })]), undefined)
  t.equal(describe(movingSchedule(TICKER), []), undefined)
})
