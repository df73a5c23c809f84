import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client, CopyConditions } from 'minio'
import t from 'tap'
import { presign } from '../../../crds/src/crypto/presign.ts'
import { runSetup } from '../../../operator/src/setup/run-setup.ts'
import { setupStorage } from '../../../operator/src/setup/setup-storage.ts'
import type { Identities } from '../../../operator/src/stores/driver.ts'
import { setIdentities } from '../../../operator/src/stores/versitygw/identities.ts'
import { repository } from '../../cluster/host/state.ts'
import { startVersitygw } from '../../cluster/programs/versitygw.ts'
import { addParameters } from '../../support/attack/added-parameters.ts'
import { attackStore, listKeys } from '../../support/attack/store-attack.ts'
import { eventually } from '../../support/eventually.ts'
import { readRightsTable } from '../../support/sources/rights-table.ts'

// The Job of the chart on versitygw: the identities have the permissions of docs/architecture.md, and replaced ones lose theirs.

const BUCKET = 'tintype'
const directory = await mkdtemp(path.join(tmpdir(), 'tintype-versitygw-'))
const store = await startVersitygw({ directory })
t.teardown(async () => {
  await store.stop()
  await rm(directory, { recursive: true, force: true })
})
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
const connect = (accessKey: string, secretKey: string) =>
  new Client({ endPoint: '127.0.0.1', port: store.port, useSSL: false, region: 'us-east-1', accessKey, secretKey, pathStyle: true })
const clientOf = (role: string) => connect(`tintype-${role}`, `secret of <${role}> & others`)
const root = connect(store.accessKey, store.secretKey)
const denied = { code: 'AccessDenied' }

await setupStorage(environment)
await root.makeBucket('other')

const isAllowed = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: { code?: string }) => {
      if (error.code === 'NoSuchKey') return true
      if (error.code === 'AccessDenied' || error.code === 'Forbidden') return false
      throw error
    },
  )

const table = readRightsTable()
const SOURCE = 'users/source.png'
await root.putObject(BUCKET, SOURCE, 'x')

for (const role of roles) {
  t.test(`versitygw gives the identity ${role} the permissions of docs/architecture.md in each folder`, async (t) => {
    const client = clientOf(role)
    for (const folder of [...table.keys(), 'elsewhere']) {
      await root.putObject(BUCKET, `${folder}/there`, 'x')
      const rights = table.get(folder)?.get(role) ?? []
      const mayList = role === 'operator' || role === 'gateway'
      // versitygw has no condition on copies: who may read the source and write the target may copy.
      const mayCopy = rights.includes('put') && Boolean(table.get('users')?.get(role)?.includes('get'))
      t.strictSame(
        {
          get: await isAllowed(client.getObject(BUCKET, `${folder}/there`)),
          put: await isAllowed(client.putObject(BUCKET, `${folder}/new`, 'x')),
          list: await isAllowed(client.listObjectsV2(BUCKET, `${folder}/`, true).toArray()),
          copy: await isAllowed(client.copyObject(BUCKET, `${folder}/copy`, `/${BUCKET}/${SOURCE}`, new CopyConditions())),
          delete: await isAllowed(client.removeObject(BUCKET, `${folder}/there`)),
        },
        { get: rights.includes('get'), put: rights.includes('put'), list: mayList, copy: mayCopy, delete: rights.includes('delete') },
        `${role} in ${folder}/`,
      )
    }
    await t.rejects(client.putObject('other', 'users/x', 'x'), denied, 'another bucket')
    await t.rejects(client.setBucketPolicy(BUCKET, JSON.stringify({ Version: '2012-10-17', Statement: [] })), 'the policy')
  })
}

t.test('versitygw: a URL for an upload does not become a copy, and is valid once', async (t) => {
  const access = {
    endpoint: store.endpoint,
    region: 'us-east-1',
    bucket: BUCKET,
    accessKey: 'tintype-uploads',
    secretKey: 'secret of <uploads> & others',
  }
  const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
  const url = presign(access, { method: 'PUT', key: 'users/signed', headers, expiresSeconds: 60, now: new Date() })
  const copy = await fetch(url, { method: 'PUT', headers: { ...headers, 'x-amz-copy-source': `/${BUCKET}/${SOURCE}` } })
  t.equal(copy.status, 403)
  await copy.arrayBuffer()
  t.equal((await fetch(url, { method: 'PUT', headers, body: 'picture' })).status, 200)
  t.equal((await fetch(url, { method: 'PUT', headers, body: 'another' })).status, 412)
  const forged = url.replace(/Signature=[0-9a-f]+/, `Signature=${'0'.repeat(64)}`)
  t.equal((await fetch(forged, { method: 'PUT', headers, body: 'forged' })).status, 403)
})

t.test('versitygw: a parameter added to a link or an upload is not refused with 403', async (t) => {
  const access = (role: string) => ({
    endpoint: store.endpoint,
    region: 'us-east-1',
    bucket: BUCKET,
    accessKey: `tintype-${role}`,
    secretKey: `secret of <${role}> & others`,
  })
  const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
  const times = { expiresSeconds: 60, now: new Date() }
  const query = { 'response-content-type': 'image/png' }
  const url = presign(access('links'), { method: 'GET', key: SOURCE, query, ...times })
  const upload = presign(access('uploads'), { method: 'PUT', key: 'users/added', headers, ...times })
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
  t.strictSame(
    keys.filter((key) => key.includes('victim')),
    [],
  )
})

t.test('versitygw: the setup may be repeated, changes secrets, and ends replaced keys', async (t) => {
  const changed = { ...environment, TINTYPE_GATEWAY_SECRET_KEY: 'another secret' }
  await setupStorage(changed)
  await t.rejects(clientOf('gateway').bucketExists(BUCKET))
  const old = connect('tintype-gateway', 'another secret')
  t.ok(await old.bucketExists(BUCKET))

  const replaced = { ...changed, TINTYPE_GATEWAY_ACCESS_KEY: 'second-gateway', TINTYPE_GATEWAY_SECRET_KEY: 'second secret' }
  await setupStorage(replaced)
  await t.rejects(old.statObject(BUCKET, SOURCE))
  t.ok(await connect('second-gateway', 'second secret').statObject(BUCKET, SOURCE))
  t.ok(await clientOf('operator').statObject(BUCKET, SOURCE))
  await t.rejects(runSetup('remove-storage-user', ['second-gateway'], replaced), { message: /second-gateway is in use/ })
  await setupStorage(environment)
  await runSetup('remove-storage-user', ['second-gateway'], environment)
  await t.rejects(connect('second-gateway', 'second secret').statObject(BUCKET, SOURCE))
  t.ok(await clientOf('gateway').statObject(BUCKET, SOURCE))
})

t.test('versitygw: a wrong root password is reported with what the store said', async (t) => {
  const { endpoint, accessKey } = store
  const root = { endpoint, region: 'us-east-1', accessKey, secretKey: 'wrong password' }
  const users = Object.fromEntries(roles.map((role) => [role, { accessKey: role, secretKey: 'a long secret' }])) as Identities
  const work = setIdentities(users, { root, bucket: BUCKET })
  await t.rejects(work, { reason: 'StorageRefused', message: /responded with 403 to create-user.*\n.*SignatureDoesNotMatch/ })
})

t.test('versitygw: expire-files deletes expired objects from the volume, and the store no longer has them', async (t) => {
  const operator = clientOf('operator')
  for (const name of ['old', 'new']) await operator.putObject(BUCKET, `events/default/${name}`, 'x')
  const long = new Date(Date.now() - 8 * 86_400_000)
  await utimes(path.join(directory, 'files', BUCKET, 'events/default/old'), long, long)
  const program = spawn(process.execPath, [path.join(repository, 'operator/src/main.ts'), 'expire-files', path.join(directory, 'files')], {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
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
