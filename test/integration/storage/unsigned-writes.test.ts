import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Client } from 'minio'
import t, { type Test } from 'tap'
import { presign } from '../../../crds/src/crypto/presign.ts'
import { type MinioOptions, startMinio } from '../../cluster/programs/minio.ts'
import type { StoreServer } from '../../cluster/programs/store-server.ts'
import { type StoreKeys, signedChunks, signStoreRequest } from '../../support/attack/sign-store-request.ts'
import { ACCEPTED_UPSTREAM, type AttackResult, attackStore, listKeys } from '../../support/attack/store-attack.ts'
import { chunked, chunkedHeaders, FORGED_CONTENT } from '../../support/attack/unsigned-writes.ts'

// CVE-2026-41145 and CVE-2026-40344: uploads with a signature of zeros. The upstream build of MinIO is the control.

const BUCKET = 'tintype'

const connect = ({ port, accessKey, secretKey }: StoreServer): Client =>
  new Client({ endPoint: '127.0.0.1', port, useSSL: false, region: 'us-east-1', accessKey, secretKey, pathStyle: true })

async function openStore(t: Test, build: NonNullable<MinioOptions['build']>): Promise<{ store: StoreServer; client: Client }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-unsigned-'))
  const store = await startMinio({ directory, build })
  t.teardown(async () => {
    await store.stop()
    await rm(directory, { recursive: true, force: true })
  })
  const client = connect(store)
  await client.makeBucket(BUCKET)
  return { store, client }
}

async function attack(t: Test, build: NonNullable<MinioOptions['build']>): Promise<AttackResult> {
  const { store, client } = await openStore(t, build)
  return attackStore(store, client, BUCKET)
}

t.test('anybody writes into the bundled store: control, MinIO without patches accepts uploads with a signature of zeros', async (t) => {
  const { answers, keys, parts } = await attack(t, 'upstream')
  const accepted = answers.filter(({ status }) => status === 200).map(({ name }) => name)
  t.strictSame(accepted, ACCEPTED_UPSTREAM)
  t.strictSame(keys, ['users/victim/extracted-raw', 'users/victim/put-chunked'])
  t.equal(parts, 1)
})

t.test('anybody writes into the bundled store: uploads with a signature of zeros are rejected and write nothing', async (t) => {
  const { answers, keys, parts } = await attack(t, 'ours')
  t.equal(answers.length, 12)
  for (const { name, status, code } of answers) t.equal(status, 403, `${name}: ${status} ${code}`)
  t.strictSame(keys, [])
  t.equal(parts, 0)
})

t.test('anybody writes into the bundled store: uploads that are signed are stored', async (t) => {
  const { store, client } = await openStore(t, 'ours')
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
    const access = { ...store, region: 'us-east-1', bucket: BUCKET }
    const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
    const url = presign(access, { method: 'PUT', key: 'presigned', headers, expiresSeconds: 60, now: new Date() })
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
