import t from 'tap'
import { type Condition, findCondition, setCondition, toReason } from '../../../../crds/src/schema/conditions.ts'
import { JOB_ERRORS } from '../../../../crds/src/schema/errors.ts'
import { at } from '../../../support/fakes/builders.ts'

const aCondition = (given: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status: 'True',
  reason: 'Good',
  message: 'all is well',
  lastTransitionTime: at(0).toISOString(),
  ...given,
})

t.test('toReason converts a code to a Kubernetes reason', async (t) => {
  t.equal(toReason('BLOCKED_ADDRESS'), 'BlockedAddress')
  t.equal(toReason('TIMEOUT'), 'Timeout')
  t.strictSame(
    Object.keys(JOB_ERRORS)
      .map(toReason)
      .filter((reason) => !/^[A-Z][A-Za-z]*$/.test(reason)),
    [],
  )
})

t.test('setCondition changes the transition time only if the status changes', async (t) => {
  const before = [aCondition()]
  const [same] = setCondition(before, { type: 'Ready', status: 'True', reason: 'Better', message: '' }, at(9))
  t.match(same, { reason: 'Better', lastTransitionTime: at(0).toISOString() })
  const [flipped] = setCondition(before, { type: 'Ready', status: 'False', reason: 'Bad', message: '' }, at(9))
  t.match(flipped, { reason: 'Bad', lastTransitionTime: at(9).toISOString() })
})

t.test('setCondition does not change other conditions or the given list', async (t) => {
  const before = [aCondition(), aCondition({ type: 'Sandboxed' })]
  const after = setCondition(before, { type: 'Ready', status: 'False', reason: 'Bad', message: '' }, at(9))
  t.equal(after.length, 2)
  t.strictSame(findCondition(after, 'Sandboxed'), before[1])
  t.equal(before[0]?.status, 'True')
})

t.test('findCondition finds a condition by type, or returns undefined', async (t) => {
  t.equal(findCondition([aCondition()], 'Ready')?.reason, 'Good')
  t.equal(findCondition([aCondition()], 'Finished'), undefined)
  t.equal(findCondition(undefined, 'Ready'), undefined)
})
