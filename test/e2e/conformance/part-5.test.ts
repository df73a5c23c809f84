import t from 'tap'
import { createClusterAccount, createClusterKey } from '../../support/cluster/accounts.ts'
import { createAndForget, createWebhook, rest, restOf } from '../../support/cluster/conformance.ts'
import { eventually } from '../../support/eventually.ts'
import { page } from '../../support/servers/pages.ts'

// Authentication. part-6.test.ts tests the signatures of events.

const url = page('/quadrants')
const options = { delay: 60_000 }
const nobody = restOf(null)

/** All endpoints of part 4 except the public one. */
const endpoints: [method: string, path: string][] = [
  ['POST', '/screenshots'],
  ['GET', '/screenshots'],
  ['GET', '/screenshots/scr_01'],
  ['DELETE', '/screenshots/scr_01'],
  ['POST', '/screenshots/batch'],
  ['POST', '/keys'],
  ['GET', '/keys'],
  ['PUT', '/keys/key_01'],
  ['DELETE', '/keys/key_01'],
  ['POST', '/webhooks'],
  ['GET', '/webhooks'],
  ['GET', '/webhooks/wh_01'],
  ['PATCH', '/webhooks/wh_01'],
  ['PUT', '/webhooks/wh_01'],
  ['DELETE', '/webhooks/wh_01'],
  ['POST', '/webhooks/wh_01/test'],
  ['GET', '/usage/current'],
]

t.test('spec 5.1: all endpoints except the status require an API key in the header Authorization: Bearer', async (t) => {
  for (const [method, path] of endpoints) {
    const { status, body, headers } = await nobody(method, path)
    t.strictSame([status, body.error.code], [401, 'UNAUTHORIZED'], `${method} ${path}`)
    t.match(headers.get('www-authenticate'), /^Bearer realm="api"/)
    t.not((await rest(method, path)).status, 401, `${method} ${path} with a key`)
  }
})

t.test('spec 5.1: a header of another form is rejected', async (t) => {
  t.equal((await nobody('GET', '/usage/current')).status, 401)
  for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer a b', 'ttk_000000000000000000000000000000000000'])
    t.equal((await nobody('GET', '/usage/current', undefined, { authorization })).status, 401, authorization)
})

t.test('spec 5.2: GET /v1/status is public and works without the header', async (t) => {
  t.equal((await nobody('GET', '/status')).status, 200)
  t.equal((await restOf('nonsense')('GET', '/status')).status, 200, 'it ignores the header')
})

t.test('spec 5.3: all API keys of one account share its quota', async (t) => {
  const { name, key } = await createClusterAccount(t, 'shared', { plan: 'free' })
  const second = await createClusterKey(`${name}-second`, name)
  const { status, body } = await createAndForget(t, { url, options }, key)
  t.equal(status, 202, JSON.stringify(body))
  await eventually('both see the same count', async () => {
    const counts = await Promise.all([key, second].map((each) => restOf(each)('GET', '/usage/current')))
    return counts.every((answer) => answer.body.data.count === 1)
  })
  t.equal((await restOf(second)('GET', `/screenshots/${body.id}`)).body.id, body.id, 'both keys see the same screenshots')
})

t.test('spec 5.3: another account sees none of them', async (t) => {
  const foreign = restOf((await createClusterAccount(t, 'foreign', { plan: 'free' })).key)
  const { body } = await createAndForget(t, { url, options })
  for (const method of ['GET', 'DELETE']) t.equal((await foreign(method, `/screenshots/${body.id}`)).status, 404)
  t.strictSame((await foreign('GET', '/screenshots')).body.data, [])
})

t.test('spec 5.5: the signing secret is shown at creation and at rotation, and never again', async (t) => {
  const { id, signing_secret: secret } = (await createWebhook(t)).body.data
  t.match(secret, /^whsec_[A-Za-z0-9+/]{44}$/)
  const found = (await rest('GET', `/webhooks/${id}`)).body.data
  t.notOk('signing_secret' in found)
  t.match(found.signing_secret_hint, secret.slice(-4))
  const rotate = () => rest('POST', `/webhooks/${id}/rotate-secret`)
  const { status, body } = await rotate()
  t.equal(status, 200)
  t.match(body.data, { signing_secret: /^whsec_/, previous_secret_expires_at: /Z$/ })
  t.not(body.data.signing_secret, secret)
  t.equal((await rotate()).status, 409, 'rejected while two secrets are valid')
})

t.test('spec 5.6: a key has scopes, and cannot grant what it lacks', async (t) => {
  const owner = restOf((await createClusterAccount(t, 'scoped', { plan: 'basic' })).key)
  const { body } = await owner('POST', '/keys', { name: 'Narrow', scopes: ['screenshots:read', 'keys:write'] })
  const narrow = restOf(body.data.key)
  await eventually('the key is accepted', async () => (await narrow('GET', '/screenshots')).status === 200)
  const refused = await narrow('POST', '/screenshots', { url })
  t.strictSame([refused.status, refused.body.error.code], [403, 'INSUFFICIENT_SCOPE'])
  t.match(refused.headers.get('www-authenticate'), /scope="screenshots:write"/)
  t.equal((await narrow('POST', '/keys', { name: 'Wide', scopes: ['*'] })).status, 403)
})
