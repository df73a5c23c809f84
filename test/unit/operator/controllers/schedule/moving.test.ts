import t from 'tap'
import type { MovingParts } from '../../../../../crds/src/kinds/comparison.ts'
import type { StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { toRunSpec } from '../../../../../crds/src/records/run.ts'
import { type EndedRun, toEnded } from '../../../../../operator/src/controllers/schedule/ended-run.ts'
import { describeNewMoving, toMoving } from '../../../../../operator/src/controllers/schedule/moving.ts'
import { aScreenshot, completedStatus, failedStatus } from '../../../../support/fakes/builders.ts'

const aRun = (hour: number, moving?: MovingParts, status = completedStatus({ result: moving ? { moving } : {} })): EndedRun =>
  toEnded(aScreenshot({ spec: { scheduleRef: { name: 'home', uid: 'u', time: `2026-06-01T0${hour}:00:00.000Z` } }, status }))

const aSchedule = (moving?: MovingParts, comparison: StoredSchedule['spec']['comparison'] | null = {}): StoredSchedule => ({
  metadata: { name: 'home', namespace: 'tintype', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' },
  spec: { schedule: '0 * * * *', template: { url: 'https://example.com/' }, ...(comparison ? { comparison } : {}) },
  status: moving ? { moving } : {},
})

const TICKER = { elements: ['#ticker'] }

t.test('each run of a page that never rests waited to the end: the next run gets what moved in the last one', async (t) => {
  t.strictSame(toMoving(aSchedule(), [aRun(2, TICKER), aRun(1)]), TICKER)
  t.strictSame(toMoving(aSchedule(TICKER), []), TICKER)
  t.equal(toMoving(aSchedule(TICKER), [aRun(1)]), undefined, 'the page rests again')
  t.strictSame(toMoving(aSchedule(TICKER), [aRun(1, undefined, failedStatus())]), TICKER, 'a failed run shows nothing')
  t.equal(toMoving(aSchedule(TICKER, null), [aRun(1, TICKER)]), undefined, 'runs that are not compared wait briefly')
  const at = new Date('2026-06-01T03:00:00Z')
  t.strictSame(toRunSpec(aSchedule(TICKER), at).scheduleRef?.moving, TICKER)
  t.equal(toRunSpec(aSchedule(), at).scheduleRef?.moving, undefined)
})

t.test('an Event suggests once to ignore an element that moves', async (t) => {
  t.match(
    describeNewMoving(aSchedule(), [aRun(1, TICKER)]),
    /in #ticker\. To leave that out of comparisons, add it to spec\.comparison\.ignore\.$/,
  )
  t.equal(describeNewMoving(aSchedule(TICKER), [aRun(1, TICKER)]), undefined)
  t.equal(describeNewMoving(aSchedule(undefined, { ignore: [{ selector: '#ticker' }] }), [aRun(1, TICKER)]), undefined)
  t.equal(describeNewMoving(aSchedule(), [aRun(1, { elements: [], isEndless: true })]), undefined)
  t.equal(describeNewMoving(aSchedule(TICKER), []), undefined)
})
