import t from 'tap'
import type { UnfitReason } from '../../../../../crds/src/kinds/comparison.ts'
import type {
  RunOutcome,
  ScreenshotScheduleSpec,
  ScreenshotScheduleStatus,
  StoredSchedule,
} from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import type { Decision } from '../../../../../operator/src/controllers/schedule/decide.ts'
import { toEnded } from '../../../../../operator/src/controllers/schedule/ended-run.ts'
import { findEvents } from '../../../../../operator/src/controllers/schedule/events.ts'
import { findFitnessChanges, fitnessOf, toFitCondition } from '../../../../../operator/src/controllers/schedule/fitness.ts'
import { aScreenshot, completedStatus } from '../../../../support/fakes/builders.ts'

const aRun = (hour: number, unfit?: UnfitReason, outcome: RunOutcome = 'completed') => ({
  ...{ id: `scr_${hour}`, time: `2026-11-26T0${hour}:00:00.000Z`, outcome },
  ...(unfit ? { unfit } : {}),
})
const schedule = (status?: 'True' | 'False', comparison: object | undefined = {}) => ({
  spec: { comparison, schedule: '@hourly', template: { url: 'https://example.com/' } },
  status: {
    conditions: status ? [{ type: 'Fit', status, reason: 'PageShown', message: '', lastTransitionTime: '2026-11-26T00:00:00.000Z' }] : [],
  },
})
const changes = (of: ReturnType<typeof schedule>, ...runs: ReturnType<typeof aRun>[]) => findFitnessChanges(of, runs).map(({ id }) => id)

t.test('a page that stays unfit was reported with each run', async (t) => {
  t.strictSame(changes(schedule(), aRun(1)), [], 'the first run shows the page')
  t.strictSame(changes(schedule(), aRun(1, 'http_error')), ['scr_1'])
  t.strictSame(changes(schedule('False'), aRun(2, 'http_error')), [])
  t.strictSame(changes(schedule('False'), aRun(2, 'login')), [], 'another reason')
  t.strictSame(changes(schedule('False'), aRun(3)), ['scr_3'])
  t.strictSame(changes(schedule('True'), aRun(4)), [])
  t.strictSame(
    changes(schedule('True'), aRun(3, 'blank'), aRun(1), aRun(2, 'blank'), aRun(4)),
    ['scr_2', 'scr_4'],
    'in the order of the runs',
  )
  t.strictSame(changes(schedule('True'), aRun(1, undefined, 'failed'), aRun(2, undefined, 'deleted')), [], 'only completed runs tell')
  t.strictSame(changes(schedule('True', undefined), aRun(1)), [])
  t.strictSame(findFitnessChanges({ spec: { ...schedule().spec, comparison: undefined } }, [aRun(1, 'blank')]), [], 'nothing is compared')
})

t.test('fitnessOf finds the run that decides the condition Fit', async (t) => {
  t.equal(fitnessOf(schedule(), [aRun(2), aRun(3, 'blank'), aRun(1)])?.id, 'scr_3')
  t.equal(fitnessOf(schedule(), [aRun(1, undefined, 'failed')]), undefined)
  t.equal(fitnessOf({ spec: { ...schedule().spec, comparison: undefined } }, [aRun(1)]), undefined)
  t.match(toFitCondition(aRun(1)), { type: 'Fit', status: 'True', reason: 'PageShown' })
  t.match(toFitCondition(aRun(1, 'http_error')), {
    status: 'False',
    reason: 'HttpError',
    message: 'Run scr_1 shows an error page. It is not compared.',
  })
})

const aSchedule = (status: ScreenshotScheduleStatus = {}, spec: Partial<ScreenshotScheduleSpec> = {}): StoredSchedule => ({
  metadata: { name: 'home', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' },
  spec: { schedule: '0 * * * *', timeZone: 'Europe/Zurich', template: { url: 'https://example.com/' }, ...spec },
  status,
})
const aDecision = (given: Partial<Decision> = {}): Decision => ({
  ready: { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' },
  timing: { schedule: '0 * * * *' },
  baseline: { kept: undefined, candidates: [], isLost: false },
  ...given,
})
const ready = (status: 'True' | 'False', reason: string): ScreenshotScheduleStatus => ({
  conditions: [{ type: 'Ready', status, reason, message: 'm', lastTransitionTime: '2026-06-01T00:00:00Z' }],
})
const found = (schedule: StoredSchedule, given: Partial<Decision> = {}) =>
  findEvents(schedule, aDecision(given), [], schedule).map(({ type, reason, once }) => `${type} ${reason}${once ? ' once' : ''}`)
const at = new Date('2026-06-01T09:00:00Z')
const missing = { status: 'False', reason: 'AccountNotFound', message: 'Account acme does not exist.' } as const

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
    const schedule = aSchedule({}, { comparison: {} })
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
  ['nothing for a new schedule', aSchedule(), {}, []],
  ['one when it stops', aSchedule(ready('True', 'Scheduled')), { ready: missing }, ['warn AccountNotFound']],
  ['nothing while it stands still', aSchedule(ready('False', 'AccountNotFound')), { ready: missing }, []],
  ['one when it resumes', aSchedule(ready('False', 'AccountNotFound')), {}, ['normal Scheduled']],
  ['one for a missed run', aSchedule(), { missed: at }, ['warn RunMissed once']],
  ['one for a run that waits', aSchedule(), { waiting: at }, ['warn RunWaiting once']],
  ['one for a skipped run', aSchedule(), { skipped: '2026-03-29 02:30', nextTime: at }, ['warn RunSkipped']],
  ['none if it was reported with the next run', aSchedule({ nextScheduleTime: at.toISOString() }), { skipped: 'x', nextTime: at }, []],
  ['one for a lost picture', aSchedule(), { baseline: { kept: undefined, candidates: [], isLost: true } }, ['warn BaselineLost']],
] as const) {
  t.test(`findEvents finds ${what}`, async (t) => t.strictSame(found(schedule, given), expected))
}
