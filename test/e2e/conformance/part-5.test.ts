import t from 'tap'
import { createClusterAccount, createClusterKey } from '../../support/cluster/accounts.ts'
import { call, type RecordBody } from '../../support/cluster/api-client.ts'
import { createAndForget, createWebhook, type ErrorBody } from '../../support/cluster/conformance.ts'
import { eventually } from '../../support/eventually.ts'
import { page } from '../../support/servers/pages.ts'

// Authentication. part-6.test.ts tests the signatures of events.

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
    const { status, body, headers } = await call<ErrorBody>(`/v1${path}`, { method, key: null })
    t.equal(status, 401, `${method} ${path}`)
    t.equal(body.error.code, 'UNAUTHORIZED', `${method} ${path}`)
    t.match(headers.get('www-authenticate'), /^Bearer realm="api"/)
    t.not((await call(`/v1${path}`, { method })).status, 401, `${method} ${path} with a key`)
  }
})

t.test('spec 5.1: a header of another form is rejected', async (t) => {
  const { status } = await call('/v1/usage/current', { key: null })
  t.equal(status, 401)
  for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer a b', 'ttk_000000000000000000000000000000000000']) {
    t.equal((await call('/v1/usage/current', { key: null, headers: { authorization } })).status, 401, authorization)
  }
})

t.test('spec 5.2: GET /v1/status is public and works without the header', async (t) => {
  t.equal((await call('/v1/status', { key: null })).status, 200)
  t.equal((await call('/v1/status', { key: 'nonsense' })).status, 200, 'it ignores the header')
})

t.test('spec 5.3: all API keys of one account share its quota', async (t) => {
  const { name, key } = await createClusterAccount(t, 'shared', { plan: 'free' })
  const second = await createClusterKey(`${name}-second`, name)
  const { status, body } = await createAndForget(t, { url: page('/quadrants'), options: { delay: 60_000 } }, key)
  t.equal(status, 202, JSON.stringify(body))
  await eventually('both see the same count', async () => {
    const counts = await Promise.all([key, second].map((each) => call<{ data: { count: number } }>('/v1/usage/current', { key: each })))
    return counts.every((answer) => answer.body.data.count === 1)
  })
  t.equal((await call<RecordBody>(`/v1/screenshots/${body.id}`, { key: second })).body.id, body.id, 'both keys see the same screenshots')
})

t.test('spec 5.3: another account sees none of them', async (t) => {
  const { key } = await createClusterAccount(t, 'foreign', { plan: 'free' })
  const { body } = await createAndForget(t, { url: page('/quadrants'), options: { delay: 60_000 } })
  for (const method of ['GET', 'DELETE']) t.equal((await call(`/v1/screenshots/${body.id}`, { method, key })).status, 404)
  t.strictSame((await call<{ data: [] }>('/v1/screenshots', { key })).body.data, [])
})

t.test('spec 5.5: the signing secret is shown at creation and at rotation, and never again', async (t) => {
  const { body } = await createWebhook(t)
  t.match(body.data.signing_secret, /^whsec_[A-Za-z0-9+/]{44}$/)
  const { body: found } = await call<{ data: Record<string, unknown> }>(`/v1/webhooks/${body.data.id}`)
  t.notOk('signing_secret' in found.data)
  t.match(found.data.signing_secret_hint, String(body.data.signing_secret).slice(-4))
  const rotated = await call<{ data: Record<string, unknown> }>(`/v1/webhooks/${body.data.id}/rotate-secret`, { method: 'POST' })
  t.equal(rotated.status, 200)
  t.match(rotated.body.data, { signing_secret: /^whsec_/, previous_secret_expires_at: /Z$/ })
  t.not(rotated.body.data.signing_secret, body.data.signing_secret)
  const again = await call(`/v1/webhooks/${body.data.id}/rotate-secret`, { method: 'POST' })
  t.equal(again.status, 409, 'rejected while two secrets are valid')
})

t.test('spec 5.6: a key has scopes, and cannot grant what it lacks', async (t) => {
  const { key } = await createClusterAccount(t, 'scoped', { plan: 'basic' })
  const { body } = await call<{ data: { key: string } }>('/v1/keys', {
    method: 'POST',
    key,
    body: { name: 'Narrow', scopes: ['screenshots:read', 'keys:write'] },
  })
  const narrow = body.data.key
  await eventually('the key is accepted', async () => (await call('/v1/screenshots', { key: narrow })).status === 200)
  const refused = await call<ErrorBody>('/v1/screenshots', { method: 'POST', key: narrow, body: { url: page('/quadrants') } })
  t.equal(refused.status, 403)
  t.equal(refused.body.error.code, 'INSUFFICIENT_SCOPE')
  t.match(refused.headers.get('www-authenticate'), /scope="screenshots:write"/)
  const wider = await call('/v1/keys', { method: 'POST', key: narrow, body: { name: 'Wide', scopes: ['*'] } })
  t.equal(wider.status, 403)
})
