import t from 'tap'
import { EXPECTATION_MILLISECONDS, Expectations } from '../../../../operator/src/runner/expectations.ts'

t.test('Expectations counts a created pod until the watch shows it', async (t) => {
  const expectations = new Expectations()
  expectations.expectCreation('default-1', 0)
  t.strictSame(expectations.unseenCreations(new Set(), 1), ['default-1'])
  t.strictSame(expectations.unseenCreations(new Set(['default-1']), 2), [])
  t.strictSame(expectations.unseenCreations(new Set(), 3), [], 'it was seen once, so its later deletion does not matter')
})

t.test('Expectations forgets a rejected creation', async (t) => {
  const expectations = new Expectations()
  expectations.expectCreation('default-1', 0)
  expectations.forget('default-1')
  t.strictSame(expectations.unseenCreations(new Set(), 1), [])
})

t.test('Expectations forgets a change that the watch has not shown for a long time', async (t) => {
  const expectations = new Expectations()
  expectations.expectCreation('default-1', 0)
  expectations.expectDeletion('uid', 0)
  t.ok(expectations.isDeleted('uid', EXPECTATION_MILLISECONDS))
  t.strictSame(expectations.unseenCreations(new Set(), EXPECTATION_MILLISECONDS + 1), [])
  t.notOk(expectations.isDeleted('uid', EXPECTATION_MILLISECONDS + 1))
})

t.test('Expectations reports a deleted pod, but not one whose deletion was rejected', async (t) => {
  const expectations = new Expectations()
  expectations.expectDeletion('uid', 0)
  t.ok(expectations.isDeleted('uid', 1))
  expectations.forget('uid')
  t.notOk(expectations.isDeleted('uid', 2))
})
