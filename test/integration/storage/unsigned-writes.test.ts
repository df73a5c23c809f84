import type { Test } from 'tap'
import type { AttackResult } from '../../support/attack/store-attack.ts'
import type { StoreKeys } from '../../support/attack/store-requests.ts'
import { enterNamespace } from '../../support/processes/in-namespace.ts'

const PUBLIC = '198.51.100.7'
enterNamespace(import.meta.filename, [PUBLIC])

const { Readable } = await import('node:stream')
const { buffer } = await import('node:stream/consumers')
const { default: t } = await import('tap')
const { presign } = await import('../../../crds/src/crypto/presign.ts')
const { signedChunks, signStoreRequest } = await import('../../support/attack/store-requests.ts')
const { ACCEPTED_UPSTREAM, attackStore, chunked, chunkedHeaders, FORGED_CONTENT, forward, listKeys } = await import(
  '../../support/attack/store-attack.ts'
)
const { openTestStore } = await import('../../support/servers/test-store.ts')

// CVE-2026-41145 and CVE-2026-40344: uploads with a signature of zeros, to the address of the store and to a public one, as with storage.publicUrl.
// The upstream build of MinIO is the control. The public address exists only in the network of this test.

const BUCKET = 'tintype'
const PLACES = { 'inside of the cluster': '127.0.0.1', 'from the internet, by storage.publicUrl': PUBLIC }

/** Starts a store with a bucket for each place, and sends all forged uploads to both addresses. */
async function attackBoth(t: Test, build: 'ours' | 'upstream') {
  const store = await openTestStore(t, { build })
  const server = await forward(PUBLIC, store.port)
  t.teardown(() => void server.close())
  const client = store.connect()
  const results: [place: string, AttackResult][] = []
  for (const [place, address] of Object.entries(PLACES)) {
    const bucket = address === PUBLIC ? BUCKET : 'inside'
    await client.makeBucket(bucket)
    results.push([place, await attackStore(store, client, bucket, `http://${address}:${store.port}`)])
  }
  return { store, client, results }
}

const upstream = await attackBoth(t, 'upstream')
const { store, client, results } = await attackBoth(t, 'ours')

t.test('anybody writes into the bundled store: control, MinIO without patches accepts uploads with a signature of zeros', async (t) => {
  for (const [place, { answers, keys, parts }] of upstream.results) {
    const accepted = answers.filter(({ status }) => status === 200).map(({ name }) => name)
    t.strictSame(accepted, ACCEPTED_UPSTREAM, place)
    t.strictSame(keys, ['users/victim/extracted-raw', 'users/victim/put-chunked'], place)
    t.equal(parts, 1, place)
  }
})

for (const [place, { answers, keys, parts }] of results) {
  t.test(`anybody writes into the bundled store ${place}: uploads with a signature of zeros are rejected and write nothing`, async (t) => {
    t.equal(answers.length, 12)
    for (const { name, status, code } of answers) t.equal(status, 403, `${name}: ${status} ${code}`)
    t.strictSame([keys, parts], [[], 0])
  })
}

t.test('anybody writes into the bundled store: from the internet, signed requests are served, and no others', async (t) => {
  const access = { ...store.access(), endpoint: `http://${PUBLIC}:${store.port}` }
  const signed = { key: 'users/a.png', expiresSeconds: 60, now: new Date() }
  const put = await fetch(presign(access, { ...signed, method: 'PUT' }), { method: 'PUT', body: 'picture' })
  t.equal(put.status, 200, 'a signed upload is stored')
  const link = await fetch(presign(access, { ...signed, method: 'GET' }), { headers: { origin: 'https://other.example' } })
  t.match({ status: link.status, text: await link.text() }, { status: 200, text: 'picture' }, 'a signed link is served')
  t.equal(link.headers.get('access-control-allow-origin'), null, 'scripts of other origins cannot read it')
  t.equal((await fetch(`${access.endpoint}/${BUCKET}/users/a.png`)).status, 403, 'unsigned requests are rejected')
})

t.test('anybody writes into the bundled store: uploads that are signed are stored', async (t) => {
  const content = Buffer.from(FORGED_CONTENT)
  const put = async (keys: StoreKeys, key: string, payload: string, headers: Record<string, string>, body: Buffer) => {
    const signed = signStoreRequest(keys, 'PUT', `/${BUCKET}/${key}`, payload, headers)
    return (await fetch(signed.url, { method: 'PUT', headers: signed.headers, body })).status
  }
  const read = async (key: string): Promise<string> => (await buffer(await client.getObject(BUCKET, key))).toString()

  t.test('with the signature in headers', async (t) => {
    await client.putObject(BUCKET, 'headers', content)
    t.equal(await read('headers'), FORGED_CONTENT)
  })

  t.test('with a presigned URL', async (t) => {
    const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
    const url = presign(store.access(), { method: 'PUT', key: 'presigned', headers, expiresSeconds: 60, now: new Date() })
    t.equal((await fetch(url, { method: 'PUT', headers, body: content })).status, 200)
    t.equal(await read('presigned'), FORGED_CONTENT)
    const again = await fetch(url, { method: 'PUT', headers, body: 'x' })
    t.equal(again.status, 412, 'the condition is part of the signature')
    const copy = await fetch(url, { method: 'PUT', headers: { ...headers, 'x-amz-copy-source': `/${BUCKET}/headers` } })
    t.equal(copy.status, 400, 'a header that makes it a copy is not')
  })

  t.test('in signed chunks', async (t) => {
    const headers = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': String(content.length) }
    const signed = signStoreRequest(store, 'PUT', `/${BUCKET}/signed-chunks`, 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', headers)
    const answer = await fetch(signed.url, { method: 'PUT', headers: signed.headers, body: signedChunks(signed, [content]) })
    t.equal(answer.status, 200)
    t.equal(await read('signed-chunks'), FORGED_CONTENT)
  })

  t.test('in unsigned chunks, as SDKs send them over TLS', async (t) => {
    const payload = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
    t.equal(await put(store, 'unsigned-chunks', payload, chunkedHeaders(content), chunked(content)), 200)
    t.equal(await read('unsigned-chunks'), FORGED_CONTENT)
    const wrong = await put({ ...store, secretKey: 'wrong' }, 'wrong-secret', payload, chunkedHeaders(content), chunked(content))
    t.equal(wrong, 403, 'rejected with another secret')
  })

  t.test('without a signature of the payload', async (t) => {
    t.equal(await put(store, 'unsigned-payload', 'UNSIGNED-PAYLOAD', {}, content), 200)
    t.equal(await read('unsigned-payload'), FORGED_CONTENT)
  })

  t.test('in parts', async (t) => {
    const large = Buffer.alloc(11 * 2 ** 20, 'x')
    await client.putObject(BUCKET, 'parts', Readable.from([large.subarray(0, 6 * 2 ** 20), large.subarray(6 * 2 ** 20)]))
    t.equal((await client.statObject(BUCKET, 'parts')).size, large.length)
    t.match((await client.statObject(BUCKET, 'parts')).etag, /-\d+$/, 'it came in parts')
  })

  t.strictSame((await listKeys(client, BUCKET)).includes('wrong-secret'), false)
})
