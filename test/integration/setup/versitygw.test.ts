import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { utimes } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { presign } from '../../../crds/src/crypto/presign.ts'
import { runSetup } from '../../../operator/src/setup/run-setup.ts'
import { setupStorage } from '../../../operator/src/setup/setup-storage.ts'
import type { Identities } from '../../../operator/src/stores/driver.ts'
import { setIdentities } from '../../../operator/src/stores/versitygw/driver.ts'
import { repository } from '../../cluster/host/state.ts'
import { startVersitygw } from '../../cluster/programs/versitygw.ts'
import { assertEvery } from '../../support/accepts.ts'
import { attackStore, listKeys } from '../../support/attack/store-attack.ts'
import { addParameters } from '../../support/attack/store-requests.ts'
import { eventually } from '../../support/eventually.ts'
import { openTestStore } from '../../support/servers/test-store.ts'
import { readRightsTable } from '../../support/sources/rights-table.ts'
import { SOURCE, tryRights } from './rights.ts'

// The Job of the chart on versitygw: the identities have the permissions of docs/architecture.md, and replaced ones lose theirs.

const BUCKET = 'tintype'
const store = await openTestStore(t, {}, startVersitygw)
const roles = ['uploads', 'links', 'operator', 'gateway'] as const
const environment = {
  TINTYPE_STORAGE_KIND: 'versitygw',
  TINTYPE_STORAGE_ENDPOINT: store.endpoint,
  TINTYPE_STORAGE_REGION: 'us-east-1',
  TINTYPE_STORAGE_BUCKET: BUCKET,
  TINTYPE_STORAGE_ROOT_USER: store.accessKey,
  TINTYPE_STORAGE_ROOT_PASSWORD: store.secretKey,
  ...Object.fromEntries(
    roles.flatMap((role) => [
      [`TINTYPE_${role.toUpperCase()}_ACCESS_KEY`, `tintype-${role}`],
      [`TINTYPE_${role.toUpperCase()}_SECRET_KEY`, `secret of <${role}> & others`],
    ]),
  ),
}
const userOf = (role: string) => ({ accessKey: `tintype-${role}`, secretKey: `secret of <${role}> & others` })
const clientOf = (role: string) => store.connect(userOf(role))
const root = store.connect()
const denied = { code: 'AccessDenied' }

await setupStorage(environment)
await root.makeBucket('other')

const table = readRightsTable()
await root.putObject(BUCKET, SOURCE, 'x')

for (const role of roles) {
  t.test(`versitygw gives the identity ${role} the permissions of docs/architecture.md in each folder`, async (t) => {
    const client = clientOf(role)
    for (const folder of [...table.keys(), 'elsewhere']) {
      const rights = new Set(table.get(folder)?.get(role) ?? [])
      if (role === 'operator' || role === 'gateway') rights.add('list')
      // versitygw has no condition on copies: who may read the source and write the target may copy.
      if (rights.has('put') && table.get('users')?.get(role)?.includes('get')) rights.add('copy')
      else rights.delete('copy')
      t.strictSame(await tryRights(client, root, folder), [...rights].sort(), `${role} in ${folder}/`)
    }
    await t.rejects(client.putObject('other', 'users/x', 'x'), denied, 'another bucket')
    await t.rejects(client.setBucketPolicy(BUCKET, JSON.stringify({ Version: '2012-10-17', Statement: [] })), 'the policy')
  })
}

t.test('versitygw: a URL for an upload does not become a copy, and is valid once', async (t) => {
  const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
  const url = presign(store.access(userOf('uploads')), { method: 'PUT', key: 'users/signed', headers, expiresSeconds: 60, now: new Date() })
  const copy = await fetch(url, { method: 'PUT', headers: { ...headers, 'x-amz-copy-source': `/${BUCKET}/${SOURCE}` } })
  t.equal(copy.status, 403)
  await copy.arrayBuffer()
  t.equal((await fetch(url, { method: 'PUT', headers, body: 'picture' })).status, 200)
  t.equal((await fetch(url, { method: 'PUT', headers, body: 'another' })).status, 412)
  const forged = url.replace(/Signature=[0-9a-f]+/, `Signature=${'0'.repeat(64)}`)
  t.equal((await fetch(forged, { method: 'PUT', headers, body: 'forged' })).status, 403)
})

t.test('versitygw: a parameter added to a link or an upload is not refused with 403', async (t) => {
  const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
  const times = { expiresSeconds: 60, now: new Date() }
  const query = { 'response-content-type': 'image/png' }
  const url = presign(store.access(userOf('links')), { method: 'GET', key: SOURCE, query, ...times })
  const upload = presign(store.access(userOf('uploads')), { method: 'PUT', key: 'users/added', headers, ...times })
  // These have no operation for an object without the other parameters of a part, and versitygw says so before it checks the signature.
  const incomplete = /^(GET uploads=: 400 InvalidRequest|PUT uploadId=x: 405 MethodNotAllowed|PUT partNumber=1: 400 InvalidArgument)$/
  const accepted = async (request: Parameters<typeof addParameters>[0]) =>
    (await addParameters(request)).filter((one) => !incomplete.test(one))
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'] as const) t.strictSame(await accepted({ method, url }), [], `link, ${method}`)
  t.strictSame(await accepted({ method: 'PUT', url: upload, headers }), [], 'upload')
  t.equal((await fetch(url)).status, 200)
  t.equal((await fetch(upload, { method: 'PUT', headers, body: 'picture' })).status, 200, 'nothing was stored before')
})

t.test('versitygw: uploads with a signature of zeros are rejected and write nothing', async (t) => {
  const { answers } = await attackStore(store, root, BUCKET)
  t.equal(answers.length, 12)
  for (const { name, status } of answers) t.ok(status >= 400 && status < 500, `${name}: ${status}`)
  const keys = await listKeys(root, BUCKET)
  assertEvery(t, keys, (key) => !key.includes('victim'))
})

t.test('versitygw: the setup may be repeated, changes secrets, and ends replaced keys', async (t) => {
  const changed = { ...environment, TINTYPE_GATEWAY_SECRET_KEY: 'another secret' }
  await setupStorage(changed)
  await t.rejects(clientOf('gateway').bucketExists(BUCKET))
  const old = store.connect({ accessKey: 'tintype-gateway', secretKey: 'another secret' })
  t.ok(await old.bucketExists(BUCKET))

  const second = { accessKey: 'second-gateway', secretKey: 'second secret' }
  const replaced = { ...changed, TINTYPE_GATEWAY_ACCESS_KEY: second.accessKey, TINTYPE_GATEWAY_SECRET_KEY: second.secretKey }
  await setupStorage(replaced)
  await t.rejects(old.statObject(BUCKET, SOURCE))
  t.ok(await store.connect(second).statObject(BUCKET, SOURCE))
  t.ok(await clientOf('operator').statObject(BUCKET, SOURCE))
  await t.rejects(runSetup('remove-storage-user', ['second-gateway'], replaced), { message: /second-gateway is in use/ })
  await setupStorage(environment)
  await runSetup('remove-storage-user', ['second-gateway'], environment)
  await t.rejects(store.connect(second).statObject(BUCKET, SOURCE))
  t.ok(await clientOf('gateway').statObject(BUCKET, SOURCE))
})

t.test('versitygw: a wrong root password is reported with what the store said', async (t) => {
  const root = store.access({ accessKey: store.accessKey, secretKey: 'wrong password' })
  const users = Object.fromEntries(roles.map((role) => [role, { accessKey: role, secretKey: 'a long secret' }])) as Identities
  const work = setIdentities(users, { root, bucket: BUCKET })
  await t.rejects(work, { reason: 'StorageRefused', message: /responded with 403 to create-user.*\n.*SignatureDoesNotMatch/ })
})

t.test('versitygw: expire-files deletes expired objects from the volume, and the store no longer has them', async (t) => {
  const operator = clientOf('operator')
  for (const name of ['old', 'new']) await operator.putObject(BUCKET, `events/default/${name}`, 'x')
  const long = new Date(Date.now() - 8 * 86_400_000)
  await utimes(path.join(store.directory, 'files', BUCKET, 'events/default/old'), long, long)
  const program = spawn(
    process.execPath,
    [path.join(repository, 'operator/src/main.ts'), 'expire-files', path.join(store.directory, 'files')],
    {
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.teardown(() => program.kill('SIGKILL'))
  await eventually('the expired object is gone', async () => !(await isThere('events/default/old')))
  t.ok(await isThere('events/default/new'))
  program.kill('SIGTERM')
  const [code] = (await once(program, 'exit')) as [number | null]
  t.equal(code, 0)
})

const isThere = (key: string): Promise<boolean> =>
  clientOf('operator')
    .statObject(BUCKET, key)
    .then(
      () => true,
      (error: { code?: string }) => {
        if (error.code === 'NotFound' || error.code === 'NoSuchKey') return false
        throw error
      },
    )
