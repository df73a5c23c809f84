import t from 'tap'
import { derivedId } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { ScreenshotSpec, ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import type { ScheduleComparison, StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { baselineKey } from '../../../../../crds/src/records/storage-keys.ts'
import { chooseBaseline } from '../../../../../operator/src/controllers/schedule/baseline.ts'
import { type EndedRun, isSameChange, lastComparisonOf, toEnded } from '../../../../../operator/src/controllers/schedule/ended-runs.ts'
import { aSchedule, aScreenshot, completedStatus, failedStatus } from '../../../../support/fakes/builders.ts'

const timeOf = (hour: number): string => `2026-06-01T${String(hour).padStart(2, '0')}:00:00.000Z`
const idOf = (hour: number): string => derivedId('scr', new Date(timeOf(hour)), 'run')
const picture = (more: object = {}) => completedStatus({ result: { format: 'png', etag: 'e', ...more } })

/** A run that was due at an hour and has ended. */
function aRun(hour: number, status: ScreenshotStatus = picture(), spec: Partial<ScreenshotSpec> = {}): EndedRun {
  const scheduleRef = { name: 'home', uid: 'u', time: timeOf(hour) }
  return toEnded(
    aScreenshot({
      name: toObjectName(idOf(hour)),
      metadata: { creationTimestamp: timeOf(hour) },
      spec: { accountName: 'acme', scheduleRef, ...spec },
      status,
    }),
  )
}

/** A schedule whose baseline is the run of an hour. */
function withBaseline(comparison: ScheduleComparison | undefined = {}, hour?: number, more: Partial<StoredSchedule['status']> = {}) {
  const baseline =
    hour === undefined ? undefined : { id: idOf(hour), time: timeOf(hour), key: baselineKey('acme', 'u', idOf(hour)), etag: 'e' }
  return aSchedule({
    spec: { accountName: 'acme', ...(comparison ? { comparison } : {}) },
    status: { ...(baseline ? { baseline } : {}), ...more },
  })
}
const chosen = (schedule: StoredSchedule, ended: EndedRun[]) => {
  const { kept, candidates, isLost } = chooseBaseline(schedule, ended)
  return { kept: kept?.id, candidates: candidates.map(({ id }) => id), isLost }
}

t.test('with Previous, the last of the new pictures is preferred', async (t) => {
  t.strictSame(chosen(withBaseline(), [aRun(1), aRun(2)]), { kept: undefined, candidates: [idOf(2), idOf(1)], isLost: false })
  t.strictSame(chosen(withBaseline({}, 2), [aRun(3)]), { kept: idOf(2), candidates: [idOf(3)], isLost: false })
})

t.test('a run that was due before the baseline does not replace it', async (t) => {
  t.strictSame(chosen(withBaseline({}, 3), [aRun(2), aRun(3)]), { kept: idOf(3), candidates: [], isLost: false })
})

t.test('with Approved, the first picture became the baseline before a person saw it', async (t) => {
  t.strictSame(chosen(withBaseline({ baseline: 'Approved' }), [aRun(2), aRun(1)]).candidates, [])
  t.strictSame(chosen(withBaseline({ baseline: 'Approved', approveFirst: true }), [aRun(2), aRun(1)]).candidates, [idOf(1), idOf(2)])
  t.strictSame(chosen(withBaseline({ baseline: 'Approved' }, 1), [aRun(2)]), { kept: idOf(1), candidates: [], isLost: false })
})

for (const [what, run] of [
  ['failed', aRun(2, failedStatus())],
  ['deleted', { id: idOf(2), time: timeOf(2), outcome: 'deleted' }],
  ['a PDF', aRun(2, picture(), { options: { format: 'pdf' } })],
  ['of another account', aRun(2, picture(), { accountName: 'other' })],
  ['without an ETag', aRun(2, completedStatus())],
] as [string, EndedRun][]) {
  t.test(`a run that is ${what} never becomes the baseline`, async (t) => {
    for (const baseline of ['Previous', 'Approved'] as const) {
      t.strictSame(chosen(withBaseline({ baseline }), [run]), { kept: undefined, candidates: [], isLost: false })
      t.strictSame(chosen(withBaseline({ baseline }, 1), [run]), { kept: idOf(1), candidates: [], isLost: false })
    }
  })
}

t.test('with Approved, a run of another engine that shows the same replaces the picture', async (t) => {
  const run = (comparison: object, to = idOf(1)) => aRun(2, picture({ comparison }), { options: { compareTo: to } })
  const schedule = withBaseline({ baseline: 'Approved' }, 1)
  t.strictSame(chosen(schedule, [run({ changed: false, engineChanged: true })]), { kept: idOf(1), candidates: [idOf(2)], isLost: false })
  for (const comparison of [
    { changed: true, engineChanged: true },
    { changed: false, engineChanged: false },
    { changed: false, engineChanged: true, skipped: 'login' },
  ]) {
    t.strictSame(chosen(schedule, [run(comparison)]).candidates, [])
  }
  t.strictSame(chosen(schedule, [run({ changed: false, engineChanged: true }, idOf(0))]).candidates, [], 'compared with an earlier picture')
})

t.test('an accepted error page becomes the baseline', async (t) => {
  const run = aRun(2, picture({ unfit: 'http_error', httpStatus: 404 }))
  t.strictSame(chosen(withBaseline({ acceptStatus: ['404'] }), [run]).candidates, [idOf(2)])
  t.strictSame(chosen(withBaseline({ acceptStatus: ['500-599'] }), [run]).candidates, [])
})

t.test('nothing is kept without a comparison, or for another account', async (t) => {
  t.strictSame(chosen({ ...withBaseline({}, 1), spec: { ...withBaseline().spec, comparison: undefined } }, [aRun(2)]), {
    kept: undefined,
    candidates: [],
    isLost: false,
  })
  const moved = withBaseline({ baseline: 'Approved' }, 1)
  t.strictSame(chosen({ ...moved, spec: { ...moved.spec, accountName: 'other' } }, []).kept, undefined)
})

t.test('a picture that a capture did not find is lost, and a later one replaces it', async (t) => {
  const without = aRun(2, failedStatus({ result: { error: { code: 'BASELINE_NOT_FOUND', message: 'gone' } } }), {
    options: { compareTo: idOf(1) },
  })
  t.strictSame(chosen(withBaseline({ baseline: 'Approved' }, 1), [without]), { kept: undefined, candidates: [], isLost: true })
  t.strictSame(chosen(withBaseline({ baseline: 'Approved' }, 0), [without]).isLost, false, 'of an earlier baseline')
  t.strictSame(chosen(withBaseline({ baseline: 'Approved' }, 1), [without, aRun(3)]).candidates, [], 'a person approves another one')
  t.strictSame(chosen(withBaseline({ baseline: 'Approved', approveFirst: true }, 1), [without, aRun(3)]).candidates, [idOf(3)])
})

t.test('the last comparison is that of the last due run, and skipped ones do not count', async (t) => {
  const compared = (hour: number, changed: boolean, more: object = {}) =>
    aRun(hour, picture({ comparison: { changed, changedPixels: 5, changedRatio: 0.01, sizeChanged: false, ...more } }), {
      options: { compareTo: idOf(0) },
    })
  const ended = [compared(2, true), compared(1, false), compared(3, false, { skipped: 'blank' })]
  const last = lastComparisonOf(withBaseline(), ended)
  t.strictSame(last, {
    ...{ id: idOf(2), time: timeOf(2), to: idOf(0), changed: true, changedRatio: 0.01, changedPixels: 5, sizeChanged: false },
  })
  const later = { ...last!, id: idOf(4), time: timeOf(4) }
  t.strictSame(lastComparisonOf(withBaseline({}, 0, { lastComparison: later }), ended), later)
  t.equal(lastComparisonOf(withBaseline(), ended, idOf(2)), undefined, 'approved')
  t.equal(lastComparisonOf(withBaseline(), [aRun(1)]), undefined, 'not compared')
  t.equal(isSameChange(later, last), true)
  t.equal(isSameChange({ ...later, changedPixels: 6 }, last), false)
  t.equal(isSameChange({ ...later, to: idOf(1) }, last), false)
  t.equal(isSameChange(later, undefined), false)
  const priced = (price: string) => ({ ...later, textChanged: true, wordsAdded: [price], wordsRemoved: ['19.50'] })
  t.equal(isSameChange(priced('29.50'), priced('29.50')), true)
  t.equal(isSameChange(priced('39.50'), priced('29.50')), false, 'another price of as many pixels was no Event')
})
