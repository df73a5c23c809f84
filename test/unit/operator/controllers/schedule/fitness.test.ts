import t from 'tap'
import type { UnfitReason } from '../../../../../crds/src/kinds/comparison.ts'
import type { RunOutcome } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { findFitnessChanges, fitnessOf, toFitCondition } from '../../../../../operator/src/controllers/schedule/fitness.ts'

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
