import t from 'tap'
import { acquired, holderOf, released, renewed, termOf, toMicroTime } from '../../../../operator/src/controller-runtime/lease.ts'

const now = Date.parse('2026-11-20T10:00:00.123Z')
const holder = { identity: 'me', annotations: { pod: 'operator-1' }, leaseDurationMilliseconds: 15_000 }

t.test('toMicroTime writes the six fraction digits that the API server requires', async (t) => {
  t.equal(toMicroTime(now), '2026-11-20T10:00:00.123000Z')
})

t.test('acquired starts the first term of a new lease', async (t) => {
  const lease = acquired('tintype', undefined, holder, now)
  t.match(lease, {
    metadata: { name: 'tintype', annotations: { pod: 'operator-1' } },
    spec: {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: toMicroTime(now),
      renewTime: toMicroTime(now),
    },
  })
})

t.test('acquired starts the next term of an old lease and keeps its version as the precondition', async (t) => {
  const old = {
    metadata: { name: 'tintype', resourceVersion: '7', annotations: { pod: 'operator-0', other: 'x' } },
    spec: { holderIdentity: 'them', leaseTransitions: 4 },
  }
  const lease = acquired('tintype', old, holder, now)
  t.strictSame(lease.metadata, { name: 'tintype', resourceVersion: '7', annotations: { pod: 'operator-1', other: 'x' } })
  t.equal(termOf(lease), 5)
  t.equal(holderOf(lease), 'me')
})

t.test('renewed changes only the time, released leaves the lease without a holder for a second', async (t) => {
  const lease = acquired('tintype', undefined, holder, now)
  t.strictSame(renewed(lease, now + 2_000).spec, { ...lease.spec, renewTime: toMicroTime(now + 2_000) })
  const free = released(lease, now + 2_000)
  t.equal(holderOf(free), undefined)
  t.equal(free.spec?.leaseDurationSeconds, 1)
  t.equal(holderOf(undefined), undefined)
})
