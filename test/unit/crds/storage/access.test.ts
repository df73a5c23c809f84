import t from 'tap'
import { waitForAccess } from '../../../../crds/storage/access.ts'
import { AccessRefusedError } from '../../../../crds/storage/port.ts'

const refused = () => Promise.reject(new Error('look for the bucket', { cause: new AccessRefusedError('the key is unknown') }))

t.test('waitForAccess waits while the store refuses the key', async (t) => {
  let asked = 0
  await waitForAccess(() => (++asked < 3 ? refused() : Promise.resolve()))
  t.equal(asked, 3)
})

t.test('waitForAccess does not wait for an unreachable store', async (t) => {
  let asked = 0
  await waitForAccess(() => {
    asked++
    return Promise.reject(new Error('connect ECONNREFUSED'))
  })
  t.equal(asked, 1)
})

t.test('waitForAccess stops waiting after the time limit, and when it is aborted', async (t) => {
  await waitForAccess(refused, { patienceMilliseconds: 1 })
  await t.rejects(waitForAccess(refused, { signal: AbortSignal.timeout(10) }), { name: 'AbortError' })
})
