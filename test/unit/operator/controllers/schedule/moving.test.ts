import t from 'tap'
import type { MovingParts } from '../../../../../crds/src/kinds/comparison.ts'
import type { ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import type { StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { toRunSpec } from '../../../../../crds/src/records/run.ts'
import type { Whole } from '../../../../../crds/src/schema/custom-resource.ts'
import { type EndedRun, toEnded } from '../../../../../operator/src/controllers/schedule/ended-run.ts'
import { describeNewMoving, toMoving } from '../../../../../operator/src/controllers/schedule/moving.ts'
import { aScreenshot, completedStatus, failedStatus } from '../../../../support/fakes/builders.ts'

const aRun = (
  hour: number,
  moving?: MovingParts,
  { status = completedStatus({ result: moving ? { moving } : {} }), before }: { status?: ScreenshotStatus; before?: MovingParts } = {},
): EndedRun => {
  const scheduleRef = { name: 'home', uid: 'u', time: `2026-06-01T0${hour}:00:00.000Z`, ...(before ? { moving: before } : {}) }
  return toEnded(aScreenshot({ spec: { scheduleRef }, status }))
}

const aSchedule = (moving?: MovingParts, comparison: StoredSchedule['spec']['comparison'] | null = {}): Whole<StoredSchedule> => ({
  metadata: { name: 'home', namespace: 'tintype', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' },
  spec: { schedule: '0 * * * *', template: { url: 'https://example.com/' }, ...(comparison ? { comparison } : {}) },
  status: moving ? { moving } : {},
})

const TICKER = { elements: ['#ticker'] }

t.test('each run of a page that never rests waited to the end: the next run gets what moved in the last one', async (t) => {
  t.strictSame(toMoving(aSchedule(), [aRun(2, TICKER), aRun(1)]), { ...TICKER, runs: 0 })
  t.strictSame(toMoving(aSchedule(TICKER), []), TICKER)
  t.equal(toMoving(aSchedule(TICKER), [aRun(1)]), undefined, 'the page rests again')
  t.strictSame(toMoving(aSchedule(TICKER), [aRun(1, undefined, { status: failedStatus() })]), TICKER, 'a failed run shows nothing')
  t.equal(toMoving(aSchedule(TICKER, null), [aRun(1, TICKER)]), undefined, 'runs that are not compared wait briefly')
  const at = new Date('2026-06-01T03:00:00Z')
  t.strictSame(toRunSpec(aSchedule(TICKER), at).scheduleRef?.moving, TICKER)
  t.equal(toRunSpec(aSchedule(), at).scheduleRef?.moving, undefined)
})

t.test('a page that looked endless by chance was never waited for again: the tenth run waits for everything', async (t) => {
  const at = new Date('2026-06-01T03:00:00Z')
  let schedule = aSchedule({ ...TICKER, runs: 0 })
  const isShort: boolean[] = []
  for (let run = 0; run < 11; run++) {
    const before = toRunSpec(schedule, at).scheduleRef?.moving
    isShort.push(before !== undefined)
    schedule = aSchedule(toMoving(schedule, [aRun(1, TICKER, before ? { before } : {})]))
  }
  t.strictSame(isShort, [...Array.from({ length: 9 }, () => true), false, true])
})

t.test('an Event suggests once to ignore an element that moves', async (t) => {
  const describe = (schedule: StoredSchedule, ended: EndedRun[]) => describeNewMoving(schedule, ended, toMoving(schedule, ended))
  t.match(describe(aSchedule(), [aRun(1, TICKER)]), /in #ticker\. To leave that out of comparisons, add it to spec\.comparison\.ignore\.$/)
  t.equal(describe(aSchedule(TICKER), [aRun(1, TICKER)]), undefined)
  t.equal(describe(aSchedule(undefined, { ignore: [{ selector: '#ticker' }] }), [aRun(1, TICKER)]), undefined)
  t.equal(describe(aSchedule(), [aRun(1, { elements: [], isEndless: true })]), undefined)
  t.equal(describe(aSchedule(TICKER), []), undefined)
})
