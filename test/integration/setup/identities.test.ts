import t from 'tap'
import { presign } from '../../../crds/src/crypto/presign.ts'
import { IDENTITIES, type Identity } from '../../../crds/src/records/folders.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import type { StoreUser } from '../../../operator/src/stores/driver.ts'
import { attachPolicy, listUsers, putUser } from '../../../operator/src/stores/minio/admin.ts'
import { policyName, setIdentities } from '../../../operator/src/stores/minio/driver.ts'
import { addParameters, signStoreRequest } from '../../support/attack/store-requests.ts'
import { eventually } from '../../support/eventually.ts'
import { openTestStore, type TestStore } from '../../support/servers/test-store.ts'
import { readRightsTable } from '../../support/sources/rights-table.ts'
import { setUsers } from '../store-identities.ts'
import { isAllowed, SOURCE, tryRights } from './rights.ts'

const HOUR = 3_600_000
const bucket = 'tintype'
const now = new Date()
const key = (role: Identity, mark: string): StoreUser => ({ accessKey: `${role}-${mark}`, secretKey: `secret of ${role} ${mark}` })
const keysOf = (mark: string) => Object.fromEntries(IDENTITIES.map((role) => [role, key(role, mark)])) as Record<Identity, StoreUser>
const first = keysOf('first')

/** Creates the bucket and the first identities. */
async function prepare(store: TestStore): Promise<void> {
  const open = () =>
    openStorage(store.access())
      .ensureBucket()
      .then(
        () => true,
        () => false,
      )
  await eventually('the store is open', open)
  await setUsers(() => setIdentities(first, { root: store.access(), bucket, now: new Date() }))
}

const store = await openTestStore(t)
await prepare(store)
// Before the first test, because tap ends the file when no test is left.
const BUILDS = { upstream: await openTestStore(t, { build: 'upstream' }), ours: await openTestStore(t, { build: 'ours' }) }
for (const each of Object.values(BUILDS)) await prepare(each)
const root = store.access()
const { connect } = store
const admin = connect()
const table = readRightsTable()
await admin.putObject(bucket, SOURCE, 'x')

for (const role of IDENTITIES) {
  t.test(`the identity ${role} has exactly the permissions of docs/architecture.md in each folder`, async (t) => {
    const client = connect(first[role])
    const list = role === 'operator' || role === 'gateway' ? ['list'] : []
    for (const folder of [...table.keys(), 'other'])
      t.strictSame(await tryRights(client, admin, folder), (table.get(folder)?.get(role) ?? list).toSorted(), `${role} in ${folder}/`)
    t.equal(await isAllowed(client.setBucketLifecycle(bucket, '')), false, 'no lifecycle')
    t.equal(await isAllowed(client.setBucketPolicy(bucket, '{}')), false, 'no policy')
  })
}

for (const [build, other] of Object.entries(BUILDS)) {
  const there = other.access()
  const isUpstream = build === 'upstream'

  t.test(`a presigned upload with an unsigned X-Amz-Copy-Source header copies nothing, on MinIO build ${build}`, async (t) => {
    const { victim, own } = { victim: 'users/victim.png', own: 'users/own.png' }
    const owner = openStorage(there)
    await owner.write(victim, 'a secret picture')
    const presignBy = (uploads: StoreUser | undefined, key: string) => {
      const storage = openStorage(other.access(first.operator), { uploads })
      return storage.presignPut({ key, contentType: 'image/png', expiresAt: new Date(Date.now() + 60_000), now: new Date() })
    }
    const attack = async (key: string, uploads?: StoreUser) => {
      const { url, headers } = presignBy(uploads, key)
      await fetch(url, { method: 'PUT', headers: { ...headers, 'x-amz-copy-source': `/${bucket}/${victim}` } })
      return owner.readText(key, 100)
    }
    const control = isUpstream ? 'a secret picture' : undefined
    t.equal(await attack('users/control.png'), control, 'control: with a URL of the operator’s identity, the upstream build copies')
    t.equal(await attack('users/stolen.png', first.uploads), undefined)
    const { url, headers } = presignBy(first.uploads, own)
    const put = (sent: Record<string, string>) => fetch(url, { method: 'PUT', headers: sent, body: 'picture' })
    t.equal((await put(headers)).status, 200, 'an upload succeeds')
    t.equal((await put(headers)).status, 412, 'but only once')
    const { 'x-amz-content-sha256': _, ...unsigned } = headers
    t.equal((await put(unsigned)).status, 400, 'the signed headers must be sent')
  })

  t.test(
    `a retired key is rejected with any time that its holder sends, except by the upstream build, on MinIO build ${build}`,
    async (t) => {
      await setIdentities(keysOf('second'), { root: there, bucket, now: new Date(Date.now() - 3 * HOUR) })
      const past = '2000-01-01T00:00:00Z'
      const put = async (target: string, headers: Record<string, string>) => {
        const keys = { endpoint: other.endpoint, ...first.operator }
        const signed = signStoreRequest(keys, 'PUT', `/${bucket}/records/${target}`, 'UNSIGNED-PAYLOAD')
        return (await fetch(signed.url, { method: 'PUT', headers: { ...signed.headers, ...headers }, body: 'x' })).status
      }
      t.equal(await put('plain', {}), 403)
      const chosen = isUpstream ? 200 : 403
      t.equal(await put('header', { CurrentTime: past }), chosen)
      t.equal(await put(`query?Currenttime=${encodeURIComponent(past)}`, {}), chosen)
    },
  )
}

t.test('a presigned read of the operator reads one object with one ETag, and nothing else', async (t) => {
  const storage = openStorage(store.access(first.operator), { uploads: first.uploads })
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
  const storage = openStorage(store.access(first.operator), { uploads: first.uploads })
  const query = { 'response-content-type': 'image/png' }
  const url = presign(store.access(first.links), { method: 'GET', key: SOURCE, query, expiresSeconds: 60, now: new Date() })
  const upload = storage.presignPut({ key: 'users/added.png', contentType: 'image/png', ...times })
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'] as const) t.strictSame(await addParameters({ method, url }), [], `link, ${method}`)
  t.strictSame(await addParameters({ method: 'PUT', ...upload }), [], 'upload')
  t.strictSame(await addParameters({ method: 'GET', ...storage.presignGet({ key: SOURCE, ...times }) }), [], 'read of a baseline')
  t.equal((await fetch(url)).status, 200)
  t.equal((await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: 'picture' })).status, 200, 'nothing was stored before')
})

t.test('replaced identities work for an hour, keep their links valid for seven days, and are then deleted', async (t) => {
  const second = keysOf('second')
  const link = (user: StoreUser) => fetch(presign(store.access(user), { method: 'GET', key: SOURCE, expiresSeconds: 60, now: new Date() }))
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
