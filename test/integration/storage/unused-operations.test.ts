import t from 'tap'
import { readModifications } from '../../cluster/programs/minio-patches.ts'
import { tarOf } from '../../support/attack/store-attack.ts'
import { signStoreRequest } from '../../support/attack/store-requests.ts'
import { openTestStore } from '../../support/servers/test-store.ts'

// Operations of the bundled store that the product does not use are rejected, even for its root user.

const BUCKET = 'tintype'
const store = await openTestStore(t)
const { endpoint } = store
const root = store.connect()
await root.makeBucket(BUCKET)
await root.putObject(BUCKET, 'users/a.png', Buffer.from('x'))

/** Sends one request that is signed by root. */
async function send(method: string, target: string, headers: Record<string, string> = {}, body?: string | Buffer) {
  const signed = signStoreRequest(store, method, target, 'UNSIGNED-PAYLOAD', headers)
  const response = await fetch(signed.url, { method, headers: signed.headers, body: body ?? null })
  return { status: response.status, text: await response.text() }
}

const anyone = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { AWS: ['*'] }, Action: ['s3:GetObject'], Resource: [`arn:aws:s3:::${BUCKET}/*`] }],
})
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const refused: { what: string; method: string; target: string; headers?: Record<string, string>; body?: string | Buffer; says: RegExp }[] =
  [
    { what: 'a policy for anonymous readers', method: 'PUT', target: `/${BUCKET}?policy=`, body: anyone, says: /the policy of a bucket/ },
    {
      what: 'a Snowball upload',
      method: 'PUT',
      target: `/${BUCKET}/a.tar`,
      headers: { 'x-amz-meta-snowball-auto-extract': 'true' },
      body: tarOf('extracted', 'x'),
      says: /extraction of archives/,
    },
    {
      what: 'metadata of replication (CVE-2026-34204)',
      method: 'PUT',
      target: `/${BUCKET}/unreadable`,
      headers: { 'x-minio-replication-server-side-encryption-sealed-key': 'eA==' },
      body: 'x',
      says: /headers of replication/,
    },
    {
      what: 'S3 Select (CVE-2026-39414)',
      method: 'POST',
      target: `/${BUCKET}/users/a.png?select=&select-type=2`,
      body: '<x/>',
      says: /S3 Select/,
    },
    {
      what: 'an upload by form',
      method: 'POST',
      target: `/${BUCKET}`,
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x--',
      says: /form uploads/,
    },
    { what: 'AssumeRole', method: 'POST', target: '/', headers: form, body: 'Action=AssumeRole&Version=2011-06-15', says: /STS/ },
    { what: 'listening to events', method: 'GET', target: `/${BUCKET}?events=s3%3AObjectCreated%3A%2A`, says: /listening to events/ },
    { what: 'Object Lambda', method: 'GET', target: `/${BUCKET}/users/a.png?lambdaArn=x`, says: /Object Lambda/ },
    {
      what: 'the configuration of the server',
      method: 'GET',
      target: '/minio/admin/v3/get-config-kv?key=api',
      says: /administrative operation/,
    },
    { what: 'the key management service', method: 'GET', target: '/minio/kms/v1/status', says: /this path/ },
  ]
for (const { what, method, target, headers, body, says } of refused) {
  t.test(`the bundled store rejects ${what} even for root`, async (t) => {
    const { status, text } = await send(method, target, headers, body)
    t.match({ status, text }, { status: 403, text: says })
    t.match(text, '/minio/source', 'and names the URL with the reason')
  })
}

t.test('rejected requests have changed nothing', async (t) => {
  const names = (await root.listObjectsV2(BUCKET, '', true).toArray()).map(({ name }) => name)
  t.strictSame(names, ['users/a.png'])
  t.match(await send('GET', `/${BUCKET}?policy=`), { status: 404, text: /NoSuchBucketPolicy/ })
})

t.test('the bundled store rejects unsigned requests, whatever a policy says', async (t) => {
  t.equal((await fetch(`${endpoint}/${BUCKET}/users/a.png`)).status, 403)
  t.equal((await fetch(`${endpoint}/`)).status, 403)
  t.equal((await fetch(`${endpoint}/minio/health/live`)).status, 200, 'except for probes')
})

t.test('the bundled store has no console and requires a token for metrics', async (t) => {
  for (const place of ['/minio/', '/login', '/minio/v2/metrics/cluster']) t.equal((await fetch(endpoint + place)).status, 403, place)
})

t.test('a captured page writes into the bundled store: no origin is allowed', async (t) => {
  for (const origin of ['https://attacker.example', 'null', 'http://localhost']) {
    const headers = { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-amz-content-sha256' }
    const asked = await fetch(`${endpoint}/${BUCKET}/x`, { method: 'OPTIONS', headers })
    t.equal(asked.headers.get('access-control-allow-origin'), null, `preflight of ${origin}`)
    const answered = await fetch(`${endpoint}/${BUCKET}/users/a.png`, { headers: { origin } })
    t.equal(answered.headers.get('access-control-allow-origin'), null, `answer to ${origin}`)
  }
})

t.test('the bundled store says that it is modified and links to the changes', async (t) => {
  const answer = await fetch(`${endpoint}/minio/source`)
  const text = await answer.text()
  const { notice, patches } = await readModifications()
  t.ok(text.includes(notice), 'the notice')
  for (const patch of patches) t.ok(text.includes(patch.text), patch.name)
  t.match((await fetch(endpoint)).headers.get('server'), 'modified; source at /minio/source')
})
