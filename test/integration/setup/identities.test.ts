import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client, CopyConditions } from 'minio'
import t from 'tap'
import { presign } from '../../../crds/src/crypto/presign.ts'
import { IDENTITIES, type Identity } from '../../../crds/src/records/folders.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import type { StoreUser } from '../../../operator/src/stores/driver.ts'
import { attachPolicy, listUsers, putUser } from '../../../operator/src/stores/minio/admin.ts'
import { setIdentities } from '../../../operator/src/stores/minio/identities.ts'
import { policyName } from '../../../operator/src/stores/minio/policies.ts'
import { startMinio } from '../../cluster/programs/minio.ts'
import { addParameters } from '../../support/attack/added-parameters.ts'
import { signStoreRequest } from '../../support/attack/sign-store-request.ts'
import { eventually } from '../../support/eventually.ts'
import { readRightsTable } from '../../support/sources/rights-table.ts'
import { setUsers } from '../store-identities.ts'

const HOUR = 3_600_000
const directory = await mkdtemp(path.join(tmpdir(), 'tintype-identities-'))
const store = await startMinio({ directory })
t.teardown(async () => {
  await store.stop()
  await rm(directory, { recursive: true, force: true })
})

const { endpoint, accessKey, secretKey, port } = store
const region = 'us-east-1'
const bucket = 'tintype'
const root = { endpoint, region, accessKey, secretKey }
const key = (role: Identity, mark: string): StoreUser => ({ accessKey: `${role}-${mark}`, secretKey: `secret of ${role} ${mark}` })
const keysOf = (mark: string) => Object.fromEntries(IDENTITIES.map((role) => [role, key(role, mark)])) as Record<Identity, StoreUser>
const connect = (user: StoreUser) => new Client({ endPoint: '127.0.0.1', port, useSSL: false, region, pathStyle: true, ...user })
const admin = connect({ accessKey, secretKey })
const now = new Date()
const first = keysOf('first')

await eventually('the store is open', async () => {
  await openStorage({ ...root, bucket }).ensureBucket()
  return true
})
await setUsers(() => setIdentities(first, { root, bucket, now }))

const isAllowed = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: { code?: string }) => {
      if (error.code === 'AccessDenied' || error.code === 'Forbidden') return false
      throw error
    },
  )

const table = readRightsTable()
const folders = [...table.keys()]
const SOURCE = 'users/source.png'
for (const name of [SOURCE, 'other/file', ...folders.map((folder) => `${folder}/there`)]) await admin.putObject(bucket, name, 'x')

for (const role of IDENTITIES) {
  t.test(`the identity ${role} has exactly the permissions of docs/architecture.md in each folder`, async (t) => {
    const client = connect(first[role])
    for (const folder of [...folders, 'other']) {
      const found: string[] = []
      const note = async (what: string, work: Promise<unknown>) => {
        if (await isAllowed(work)) found.push(what)
      }
      await note('get', client.getObject(bucket, `${folder}/there`).catch(absent))
      await note('put', client.putObject(bucket, `${folder}/new`, 'x'))
      await note('list', client.listObjectsV2(bucket, `${folder}/`, true).toArray())
      await note('copy', client.copyObject(bucket, `${folder}/copy`, `/${bucket}/${SOURCE}`, new CopyConditions()))
      await admin.putObject(bucket, `${folder}/old`, 'x')
      await note('delete', client.removeObject(bucket, `${folder}/old`))
      const list = role === 'operator' || role === 'gateway' ? ['list'] : []
      t.strictSame(found.sort(), (table.get(folder)?.get(role) ?? list).toSorted(), `${role} in ${folder}/`)
    }
    t.equal(await isAllowed(client.setBucketLifecycle(bucket, '')), false, 'no lifecycle')
    t.equal(await isAllowed(client.setBucketPolicy(bucket, '{}')), false, 'no policy')
  })
}

function absent(error: { code?: string }): unknown {
  if (error.code === 'NoSuchKey') return undefined
  throw error
}

for (const build of ['upstream', 'ours'] as const) {
  t.test(`a presigned upload with an unsigned X-Amz-Copy-Source header copies nothing, on MinIO build ${build}`, async (t) => {
    const place = t.testdir()
    const other = await startMinio({ directory: place, build })
    t.teardown(() => other.stop())
    const there = { endpoint: other.endpoint, region, bucket, accessKey: other.accessKey, secretKey: other.secretKey }
    const { victim, own } = { victim: 'users/victim.png', own: 'users/own.png' }
    const owner = openStorage(there)
    await eventually('the store is open', () =>
      owner.ensureBucket().then(
        () => true,
        () => false,
      ),
    )
    await setUsers(() => setIdentities(first, { root: there, bucket, now }))
    await owner.write(victim, 'a secret picture')
    const presignBy = (uploads: StoreUser | undefined, key: string) => {
      const storage = openStorage({ ...there, ...first.operator }, { uploads })
      return storage.presignPut({ key, contentType: 'image/png', expiresAt: new Date(Date.now() + 60_000), now: new Date() })
    }
    const attack = async (key: string, uploads?: StoreUser) => {
      const { url, headers } = presignBy(uploads, key)
      await fetch(url, { method: 'PUT', headers: { ...headers, 'x-amz-copy-source': `/${bucket}/${victim}` } })
      return owner.readText(key, 100)
    }
    const control = build === 'upstream' ? 'a secret picture' : undefined
    t.equal(await attack('users/control.png'), control, 'control: with a URL of the operator’s identity, the upstream build copies')
    t.equal(await attack('users/stolen.png', first.uploads), undefined)
    const { url, headers } = presignBy(first.uploads, own)
    const put = (sent: Record<string, string>) => fetch(url, { method: 'PUT', headers: sent, body: 'picture' })
    t.equal((await put(headers)).status, 200, 'an upload succeeds')
    t.equal((await put(headers)).status, 412, 'but only once')
    const { 'x-amz-content-sha256': _, ...unsigned } = headers
    t.equal((await put(unsigned)).status, 400, 'the signed headers must be sent')
  })
}

t.test('a presigned read of the operator reads one object with one ETag, and nothing else', async (t) => {
  const storage = openStorage({ ...root, bucket, ...first.operator }, { uploads: first.uploads })
  const { etag } = await admin.statObject(bucket, SOURCE)
  const times = { expiresAt: new Date(Date.now() + 60_000), now: new Date() }
  const { url, headers } = storage.presignGet({ key: SOURCE, etag, ...times })
  const read = await fetch(url, { headers })
  t.match([read.status, await read.text()], [200, 'x'])
  // The store has several codes for a request that does not match its signature.
  const isRefused = async (request: string, sent?: RequestInit) => [400, 403, 405].includes((await fetch(request, sent)).status)
  t.ok(await isRefused(url), 'the signed header must be sent')
  const other = storage.presignGet({ key: SOURCE, etag: '0'.repeat(32), ...times })
  t.equal((await fetch(other.url, { headers: other.headers })).status, 412)
  for (const method of ['PUT', 'DELETE', 'POST']) {
    const sent = { ...headers, 'x-amz-copy-source': `/${bucket}/${SOURCE}` }
    t.ok(await isRefused(url, { method, headers: sent, body: 'forged' }), method)
  }
  t.ok(await isRefused(url.replace('source.png', 'there'), { headers }), 'another object')
  t.ok(await isRefused(`${url}&versionId=1`, { headers }), 'another query')
  t.equal((await admin.statObject(bucket, SOURCE)).etag, etag, 'the object is unchanged')
  t.equal((await fetch(storage.presignGet({ key: 'users/absent', ...times }).url)).status, 404)
})

t.test('a parameter added to a link or an upload of the store is not refused with 403', async (t) => {
  const times = { expiresAt: new Date(Date.now() + 60_000), now: new Date() }
  const storage = openStorage({ ...root, bucket, ...first.operator }, { uploads: first.uploads })
  const query = { 'response-content-type': 'image/png' }
  const url = presign({ ...root, bucket, ...first.links }, { method: 'GET', key: SOURCE, query, expiresSeconds: 60, now: new Date() })
  const upload = storage.presignPut({ key: 'users/added.png', contentType: 'image/png', ...times })
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'] as const) t.strictSame(await addParameters({ method, url }), [], `link, ${method}`)
  t.strictSame(await addParameters({ method: 'PUT', ...upload }), [], 'upload')
  t.strictSame(await addParameters({ method: 'GET', ...storage.presignGet({ key: SOURCE, ...times }) }), [], 'read of a baseline')
  t.equal((await fetch(url)).status, 200)
  t.equal((await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: 'picture' })).status, 200, 'nothing was stored before')
})

t.test('replaced identities work for an hour, keep their links valid for seven days, and are then deleted', async (t) => {
  const second = keysOf('second')
  const link = (user: StoreUser) =>
    fetch(presign({ ...root, bucket, ...user }, { method: 'GET', key: SOURCE, expiresSeconds: 60, now: new Date() }))
  const status = async (user: StoreUser) => (await link(user)).status
  const minutes = 60_000
  // The first identities end half an hour from now, however long the previous tests took.
  await setIdentities(second, { root, bucket, now: new Date(Date.now() - 30 * minutes) })
  await connect(first.operator).putObject(bucket, 'records/rolling', 'x')
  await connect(second.operator).putObject(bucket, 'records/rolling', 'x')
  t.equal(await status(first.links), 200)

  const third = keysOf('third')
  await setIdentities(third, { root, bucket, now: new Date(now.getTime() - 2 * HOUR) })
  await t.rejects(connect(second.operator).putObject(bucket, 'records/late', 'x'), { code: 'AccessDenied' })
  await t.rejects(connect(second.uploads).putObject(bucket, 'users/late', 'x'), { code: 'AccessDenied' })
  for (const role of ['links', 'gateway', 'operator'] as const) t.equal(await status(second[role]), 200, `links of ${role} work`)
  t.equal(await status(second.uploads), 403)

  const week = 7 * 24 * HOUR
  await setIdentities(third, { root, bucket, now: new Date(now.getTime() + week) })
  const names = (await listUsers(root)).map(({ accessKey }) => accessKey).sort()
  t.strictSame(
    names,
    Object.values(third)
      .map(({ accessKey }) => accessKey)
      .sort(),
  )
  t.equal(await status(second.links), 403)
  t.equal(await status(third.links), 200)
})

t.test('the setup succeeds after two keys of one role were replaced at once', async (t) => {
  const extra = { accessKey: 'operator-extra', secretKey: 'secret of operator extra' }
  await putUser(root, extra)
  await attachPolicy(root, policyName('operator'), extra.accessKey)
  await setIdentities(keysOf('fifth'), { root, bucket, now })
  await setIdentities(keysOf('fifth'), { root, bucket, now: new Date(now.getTime() + 8 * 24 * HOUR) })
  t.equal((await listUsers(root)).length, IDENTITIES.length)
})

t.test('a retired identity that is current again gets its permissions back', async (t) => {
  t.plan(1)
  await setIdentities(keysOf('fourth'), { root, bucket, now: new Date(now.getTime() - 2 * HOUR) })
  await setIdentities(first, { root, bucket, now })
  t.ok(await connect(first.operator).putObject(bucket, 'records/again', 'x'))
})

for (const build of ['upstream', 'ours'] as const) {
  t.test(
    `a retired key is rejected with any time that its holder sends, except by the upstream build, on MinIO build ${build}`,
    async (t) => {
      const other = await startMinio({ directory: t.testdir(), build })
      t.teardown(() => other.stop())
      const there = { endpoint: other.endpoint, region, bucket, accessKey: other.accessKey, secretKey: other.secretKey }
      await eventually('the store is open', () =>
        openStorage(there)
          .ensureBucket()
          .then(
            () => true,
            () => false,
          ),
      )
      await setUsers(() => setIdentities(first, { root: there, bucket, now: new Date() }))
      await setIdentities(keysOf('second'), { root: there, bucket, now: new Date(Date.now() - 3 * HOUR) })
      const past = '2000-01-01T00:00:00Z'
      const put = async (target: string, headers: Record<string, string>) => {
        const keys = { endpoint: other.endpoint, ...first.operator }
        const signed = signStoreRequest(keys, 'PUT', `/${bucket}/records/${target}`, 'UNSIGNED-PAYLOAD')
        return (await fetch(signed.url, { method: 'PUT', headers: { ...signed.headers, ...headers }, body: 'x' })).status
      }
      t.equal(await put('plain', {}), 403)
      const chosen = build === 'upstream' ? 200 : 403
      t.equal(await put('header', { CurrentTime: past }), chosen)
      t.equal(await put(`query?Currenttime=${encodeURIComponent(past)}`, {}), chosen)
    },
  )
}
