import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { createServer } from 'node:tls'
import t from 'tap'
import type { StorageAccess } from '../../../crds/src/crypto/presign.ts'
import { isRefused } from '../../../crds/storage/port.ts'
import { openStorage } from '../../../crds/storage/s3/open-storage.ts'
import { loadDriver } from '../../../operator/src/stores/driver.ts'
import { run } from '../../cluster/host/exec.ts'
import { certificatePaths } from '../../cluster/kubernetes/pki.ts'
import { startMinio } from '../../cluster/programs/minio.ts'
import { startVersitygw } from '../../cluster/programs/versitygw.ts'
import { createReceiverCertificate } from '../../support/servers/https-receiver.ts'
import { listen } from '../../support/servers/serve.ts'
import { openTestStore } from '../../support/servers/test-store.ts'
import { setUsers } from '../store-identities.ts'

// A store that refuses a request: the error says what is wrong and what to do, on both bundled stores.

const BUCKET = 'tintype'
const user = (role: string) => ({ accessKey: `${role}-key`, secretKey: `secret of ${role}` })
const users = { uploads: user('uploads'), links: user('links'), operator: user('operator'), gateway: user('gateway') }

const open = (access: StorageAccess) => openStorage({ access, toError: (what, cause) => new Error(what, { cause }) })

/** The message of the cause of a rejected call. */
async function reasonOf(work: Promise<unknown>): Promise<{ reason: string; error: unknown }> {
  const error = await work.then(
    () => undefined,
    (rejected: Error) => rejected,
  )
  return { reason: (error?.cause as Error | undefined)?.message ?? 'no error', error }
}

const STARTS = { minio: startMinio, versitygw: startVersitygw }

for (const [name, start] of Object.entries(STARTS)) {
  t.test(`${name}: refusals say what to do`, async (t) => {
    const root = (await openTestStore(t, {}, start)).access()
    await open(root).ensureBucket()
    const driver = await loadDriver(name)
    await setUsers(() => driver.setIdentities(users, { root, bucket: BUCKET, now: new Date() }))
    const gateway = { ...root, ...users.gateway }

    t.test('an unknown access key', async (t) => {
      const { reason, error } = await reasonOf(open({ ...root, accessKey: 'nobody' }).check())
      t.match(reason, /does not know the access key nobody: check access-key in the Secret/)
      t.ok(isRefused(error), 'programs wait for a key that is about to be created')
    })

    t.test('a wrong secret key', async (t) => {
      const store = open({ ...root, secretKey: 'wrong' })
      for (const work of [() => store.check(), () => store.write('records/a', 'x')]) {
        const { reason, error } = await reasonOf(work())
        t.match(reason, /secret key does not belong to the access key tintype: check secret-key/)
        t.ok(isRefused(error))
      }
    })

    t.test('a missing bucket', async (t) => {
      t.match((await reasonOf(open({ ...root, bucket: 'another' }).check())).reason, /no bucket another: create it, or set storage\.bucket/)
      const created = await reasonOf(open({ ...gateway, bucket: 'another' }).ensureBucket())
      t.match(created.reason, /no bucket another: create it|lacks s3:ListBucket on the bucket in another: grant it/)
    })

    t.test('missing rights', async (t) => {
      const store = open(gateway)
      t.match(
        (await reasonOf(store.write('users/a', 'x'))).reason,
        /gateway-key lacks s3:PutObject on users\/\* in tintype: grant it.*README/,
      )
      t.match((await reasonOf(store.read('options/a', 10))).reason, /gateway-key lacks s3:GetObject on options\/\*/)
      t.match((await reasonOf(store.remove(['records/a']))).reason, /gateway-key lacks s3:DeleteObject on records\/\*/)
      t.match((await reasonOf(open({ ...root, ...users.uploads }).list('users/'))).reason, /uploads-key lacks s3:ListBucket on the bucket/)
      t.match((await reasonOf(open({ ...root, ...users.uploads }).check())).reason, /uploads-key lacks s3:ListBucket on the bucket/)
    })

    // MinIO accepts every region, unless its own is set.
    t.test('another region', { skip: name === 'minio' }, async (t) => {
      t.match((await reasonOf(open({ ...root, region: 'eu-central-1' }).check())).reason, /storage\.region/)
    })
  })
}

t.test('a store that cannot be reached', async (t) => {
  const access = { endpoint: 'http://127.0.0.1:9', region: 'us-east-1', bucket: BUCKET, accessKey: 'a', secretKey: 'b' }
  t.match((await reasonOf(open(access).check())).reason, /nothing listens at http:\/\/127\.0\.0\.1:9: check storage\.external\.endpoint/)
  t.match(
    (await reasonOf(open({ ...access, endpoint: 'http://store.invalid' }).check())).reason,
    /host name of http:\/\/store\.invalid does not exist/,
  )
})

t.test('a store whose certificate is from a private authority', async (t) => {
  const store = await openTestStore(t, {}, startVersitygw)
  const { certificate, key } = await createReceiverCertificate(store.directory)
  const ca = certificatePaths(store.directory, 'ca').certificate
  const proxy = createServer({ cert: await readFile(certificate), key: await readFile(key) }, (client) => {
    const upstream = connect(store.port, '127.0.0.1')
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
  })
  const access = { ...store.access(), endpoint: `https://127.0.0.1:${await listen(t, proxy)}` }
  t.match((await reasonOf(open(access).ensureBucket())).reason, /from an unknown authority.*set storage\.external\.caConfigMap/)
  // As the chart starts the programs with caConfigMap.
  const program = `
    import { openStorage } from ${JSON.stringify(import.meta.resolve('../../../crds/storage/s3/open-storage.ts'))}
    const storage = openStorage({ access: ${JSON.stringify(access)}, toError: (what, cause) => new Error(what, { cause }) })
    await storage.ensureBucket()
    await storage.write('records/a', 'text')
    console.log(await storage.readText('records/a', 10))`
  const output = await run(process.execPath, ['--input-type=module-typescript', '--eval', program], {
    environment: { NODE_EXTRA_CA_CERTS: ca },
  })
  t.equal(output.trim(), 'text')
})
