import { enterNamespace } from '../../support/processes/in-namespace.ts'

const PUBLIC = '198.51.100.7'
enterNamespace(import.meta.filename, [PUBLIC])

const { mkdtemp, rm } = await import('node:fs/promises')
const { tmpdir } = await import('node:os')
const { default: path } = await import('node:path')
const { Client } = await import('minio')
const { default: t } = await import('tap')
const { presign } = await import('../../../crds/src/crypto/presign.ts')
const { startMinio } = await import('../../cluster/programs/minio.ts')
const { ACCEPTED_UPSTREAM, attackStore, forward } = await import('../../support/attack/store-attack.ts')

// A store that is reachable from the internet, as with storage.publicUrl. The IP address exists only in the network of this test.

const BUCKET = 'tintype'

for (const build of ['upstream', 'ours'] as const) {
  t.test(`anybody writes into the bundled store: from the internet, by storage.publicUrl, build ${build}`, async (t) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'tintype-public-store-'))
    const store = await startMinio({ directory, build })
    const server = await forward(PUBLIC, store.port)
    t.teardown(async () => {
      server.close()
      await store.stop()
      await rm(directory, { recursive: true, force: true })
    })
    const { port, accessKey, secretKey } = store
    const client = new Client({ endPoint: '127.0.0.1', port, useSSL: false, region: 'us-east-1', accessKey, secretKey, pathStyle: true })
    await client.makeBucket(BUCKET)
    const publicUrl = `http://${PUBLIC}:${port}`
    const { answers, keys, parts } = await attackStore(store, client, BUCKET, publicUrl)
    if (build === 'upstream') {
      t.strictSame(
        answers.filter(({ status }) => status === 200).map(({ name }) => name),
        ACCEPTED_UPSTREAM,
        'control: the attack succeeds',
      )
      return t.equal(parts, 1)
    }
    for (const { name, status, code } of answers) t.equal(status, 403, `${name}: ${status} ${code}`)
    t.strictSame([keys, parts], [[], 0], 'nothing was written')

    const access = { endpoint: publicUrl, region: 'us-east-1', bucket: BUCKET, accessKey, secretKey }
    const signed = { key: 'users/a.png', expiresSeconds: 60, now: new Date() }
    const put = await fetch(presign(access, { ...signed, method: 'PUT' }), { method: 'PUT', body: 'picture' })
    t.equal(put.status, 200, 'a signed upload is stored')
    const link = await fetch(presign(access, { ...signed, method: 'GET' }), { headers: { origin: 'https://other.example' } })
    t.match({ status: link.status, text: await link.text() }, { status: 200, text: 'picture' }, 'a signed link is served')
    t.equal(link.headers.get('access-control-allow-origin'), null, 'scripts of other origins cannot read it')
    t.equal((await fetch(`${publicUrl}/${BUCKET}/users/a.png`)).status, 403, 'unsigned requests are rejected')
  })
}
