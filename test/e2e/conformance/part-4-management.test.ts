import t from 'tap'
import { createClusterAccount } from '../../support/cluster/accounts.ts'
import { restOf } from '../../support/cluster/conformance.ts'
import { eventually } from '../../support/eventually.ts'

// Parts 4.5, 4.13 and 4.14: keys, status, usage. part-6.test.ts creates webhook endpoints.

const { key } = await createClusterAccount(t, 'managed', { plan: 'growth' })
const rest = restOf(key)
const isLetIn = async (text: string) => (await restOf(text)('GET', '/usage/current')).status === 200
const whenRejected = (text: string) => eventually('the key is rejected', async () => !(await isLetIn(text)))

t.test('spec 4.5: POST /v1/keys creates a key that works', async (t) => {
  const { status, body } = await rest('POST', '/keys', { name: 'Second', scopes: ['usage:read'] })
  t.equal(status, 201)
  t.match(body, { message: String, data: { id: /^key_/, name: 'Second', scopes: ['usage:read'], is_active: true } })
  await eventually('the key is accepted', () => isLetIn(body.data.key ?? ''))
})

t.test('spec 4.5: DELETE /v1/keys/:id deletes a key, which is then rejected', async (t) => {
  const { data } = (await rest('POST', '/keys', { name: 'Fourth' })).body
  const { status, body } = await rest('DELETE', `/keys/${data.id}`)
  t.strictSame([status, body], [204, ''])
  await whenRejected(data.key)
  t.equal((await rest('GET', `/keys/${data.id}`)).status, 404)
})

t.test('spec 4.13: GET /v1/status is public', async (t) => {
  const { status, body } = await restOf(null)('GET', '/status')
  t.equal(status, 200)
  t.match(body, { status: String, version: String, components: Object })
})

t.test('spec 4.14: GET /v1/usage/current reports the usage', async (t) => {
  const { status, body } = await rest('GET', '/usage/current')
  t.equal(status, 200)
  t.match(body, { success: true, data: { count: 0, limit: 10_000, percentage: 0, remaining: 10_000, plan: 'growth' } })
})
