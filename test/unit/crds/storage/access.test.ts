import t from 'tap'
import { whenAdmitted } from '../../../../crds/storage/access.ts'
import { AccessRefusedError } from '../../../../crds/storage/port.ts'

const refused = () => Promise.reject(new Error('look for the bucket', { cause: new AccessRefusedError('the key is unknown') }))

t.test('whenAdmitted waits while the store refuses the key, and ends when it knows it', async (t) => {
  let asked = 0
  await whenAdmitted(() => (++asked < 3 ? refused() : Promise.resolve()))
  t.equal(asked, 3)
})

t.test('whenAdmitted does not wait for a store that is away', async (t) => {
  let asked = 0
  await whenAdmitted(() => {
    asked++
    return Promise.reject(new Error('connect ECONNREFUSED'))
  })
  t.equal(asked, 1)
})

t.test('whenAdmitted gives up in the end, and when it is told to', async (t) => {
  await whenAdmitted(refused, { patienceMilliseconds: 1 })
  await t.rejects(whenAdmitted(refused, { signal: AbortSignal.timeout(10) }), { name: 'AbortError' })
})
