import type { Test } from 'tap'
import { enterNamespace } from '../../support/processes/in-namespace.ts'

const DOMAIN = 'store.test'
const BUCKET = 'tintype'
enterNamespace(import.meta.filename, [], [DOMAIN, `${BUCKET}.${DOMAIN}`])

const http = await import('node:http')
const { text } = await import('node:stream/consumers')
const { default: t } = await import('tap')
const { loadConfig: loadGatewayConfig } = await import('../../../api-gateway/src/config.ts')
const { buildStoreLinks } = await import('../../../api-gateway/src/resources/files/store-links.ts')
const { openBucket } = await import('../../../api-gateway/src/store/bucket.ts')
const { upload } = await import('../../../capture-runner/src/capture/upload.ts')
const { newId } = await import('../../../crds/src/identifiers/ids.ts')
const { objectKey } = await import('../../../crds/src/records/storage-keys.ts')
const { loadConfig: loadOperatorConfig } = await import('../../../operator/src/runtime/config.ts')
const { openStorage } = await import('../../../operator/src/storage/storage.ts')
const { setIdentities: setMinioIdentities } = await import('../../../operator/src/stores/minio/driver.ts')
const { setIdentities: setVersitygwIdentities } = await import('../../../operator/src/stores/versitygw/driver.ts')
const { startMinio } = await import('../../cluster/programs/minio.ts')
const { startVersitygw } = await import('../../cluster/programs/versitygw.ts')
const { choose } = await import('../../support/length.ts')
const { listen } = await import('../../support/servers/serve.ts')
const { openTestStore } = await import('../../support/servers/test-store.ts')
const { setUsers } = await import('../store-identities.ts')

// Stores as they exist elsewhere: the bucket in the host name, an IPv6 address, another region. Gateway and operator use their own settings, clients
// and permissions, and the runner stores a file with the URL that the operator signs.

const STORES = {
  minio: { start: startMinio, region: 'MINIO_SITE_REGION', domain: 'MINIO_DOMAIN', identify: setMinioIdentities },
  versitygw: { start: startVersitygw, region: 'VGW_REGION', domain: 'VGW_VIRTUAL_DOMAIN', identify: setVersitygwIdentities },
}
type Store = (typeof STORES)[keyof typeof STORES]

interface Form {
  name: string
  host?: string
  region?: string
  isVirtual?: boolean
  /** The last form has it, too. */
  isLong?: true
}

const FORMS: Form[] = [
  { name: 'the bucket in the host name', isVirtual: true, isLong: true },
  { name: 'an IPv6 address', host: '::1' },
  { name: 'another region', region: 'eu-test-1', isLong: true },
  { name: 'the bucket in the host name, in another region', isVirtual: true, region: 'eu-test-1' },
]

const user = (role: string) => ({ accessKey: `${role}-key`, secretKey: `secret of ${role}` })
const users = { uploads: user('uploads'), links: user('links'), operator: user('operator'), gateway: user('gateway') }
const HOSTS_ONLY = '<Error><Code>SecondLevelDomainForbidden</Code></Error>'

/**
 * Listens in front of a store. Refuses requests with the bucket in the path, as some providers do, and asks the store for all others. Returns the port,
 * and the host names of all requests.
 */
async function startFront(t: Test, port: number) {
  const hosts = new Set<string>()
  const server = http.createServer((request, response) => {
    const host = request.headers.host?.split(':')[0] ?? ''
    hosts.add(host)
    if (host !== `${BUCKET}.${DOMAIN}`) return void response.writeHead(403).end(HOSTS_ONLY)
    const { method = '', url = '', headers } = request
    const asked = http.request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    request.pipe(asked).on('error', () => response.destroy())
  })
  return { port: await listen(t, server), hosts }
}

/** Starts the store with a bucket and the users of Tintype. Returns the programs' settings for it. */
async function startStore(t: Test, { start, region: regionVariable, domain, identify }: Store, form: Form) {
  const { host, region = 'us-east-1', isVirtual = false } = form
  const environment = { [regionVariable]: region, ...(isVirtual ? { [domain]: DOMAIN } : {}) }
  const store = await openTestStore(t, { environment, ...(host === undefined ? {} : { host }) }, start)
  const root = { ...store.access(), region }
  await openStorage(root).ensureBucket()
  await setUsers(() => identify(users, { root, bucket: BUCKET, now: new Date() }))
  const front = isVirtual ? await startFront(t, store.port) : undefined
  const endpoint = front === undefined ? store.endpoint : `http://${DOMAIN}:${front.port}`
  const settings = {
    TINTYPE_STORAGE_ENDPOINT: endpoint,
    TINTYPE_STORAGE_REGION: region,
    ...(isVirtual ? { TINTYPE_STORAGE_PATH_STYLE: 'false' } : {}),
  }
  const gatewayConfig = (more: Record<string, string> = {}) =>
    loadGatewayConfig({
      ...settings,
      TINTYPE_STORAGE_ACCESS_KEY: users.gateway.accessKey,
      TINTYPE_STORAGE_SECRET_KEY: users.gateway.secretKey,
      TINTYPE_STORAGE_LINKS_ACCESS_KEY: users.links.accessKey,
      TINTYPE_STORAGE_LINKS_SECRET_KEY: users.links.secretKey,
      TINTYPE_STORAGE_PUBLIC_URL: endpoint,
      ...{ TINTYPE_DOWNLOAD_KEYS_FILE: 'x', TINTYPE_SEALING_KEY_FILE: 'x', TINTYPE_LINK_KEY_FILE: 'x' },
      ...more,
    })
  const operatorConfig = loadOperatorConfig({
    ...settings,
    TINTYPE_STORAGE_ACCESS_KEY: users.operator.accessKey,
    TINTYPE_STORAGE_SECRET_KEY: users.operator.secretKey,
    TINTYPE_STORAGE_UPLOADS_ACCESS_KEY: users.uploads.accessKey,
    TINTYPE_STORAGE_UPLOADS_SECRET_KEY: users.uploads.secretKey,
    ...{ TINTYPE_NAMESPACE: 'tintype', TINTYPE_POD_NAME: 'operator-0', TINTYPE_POD_UID: 'uid' },
  })
  return { endpoint, front, gatewayConfig, operatorConfig }
}

const inAnHour = () => new Date(Date.now() + 3_600_000)

for (const [kind, store] of Object.entries(STORES)) {
  for (const form of choose(FORMS, ({ isLong }) => !isLong)) {
    t.test(`${kind} with ${form.name}: all programs store and read`, async (t) => {
      const { front, gatewayConfig, operatorConfig } = await startStore(t, store, form)
      const config = gatewayConfig()
      const gateway = openBucket(config.storage)
      const operator = openStorage(operatorConfig.storage, { uploads: operatorConfig.uploads })
      await gateway.check()
      await operator.ensureBucket()

      const etag = await gateway.write('records/a', 'one', { ifAbsent: true })
      t.equal(await gateway.write('records/a', 'two', { ifAbsent: true }), undefined)
      t.equal(await operator.readText('records/a', 10), 'one')
      t.ok(await gateway.write('records/a', 'two', { ifMatch: etag! }))
      await operator.write('records/a', 'three')
      t.match(await gateway.read('records/a', 10), { text: 'three' })
      t.equal(await operator.readText('records/none', 10), undefined)
      t.strictSame(await gateway.list('records/'), ['records/a'])

      const id = newId('scr', new Date())
      const key = objectKey('acme', id, 'png')
      const { url, headers } = operator.presignPut({ key, contentType: 'image/png', expiresAt: inAnHour(), now: new Date() })
      const order = { url, headers, maxBytes: 1_000 }
      const stored = await upload(Buffer.from('a picture'), order, AbortSignal.timeout(20_000))
      t.match(await gateway.stat(key), { sizeBytes: 9, etag: stored.etag })
      t.equal(await text((await gateway.open(key, { start: 2, end: 8 }))!), 'picture')
      const read = operator.presignGet({ key, etag: stored.etag, expiresAt: inAnHour(), now: new Date() })
      t.equal(await (await fetch(read.url, { headers: read.headers })).text(), 'a picture', 'the runner reads a baseline')

      const link = buildStoreLinks(config.publicStorage!)({ key, expires: inAnHour().getTime() / 1_000 }, new Date())
      const download = await fetch(link)
      t.match({ status: download.status, body: await download.text() }, { status: 200, body: 'a picture' })
      t.equal(download.headers.get('content-type'), 'image/png')

      t.ok(await operator.copy({ from: key, etag: stored.etag, to: 'baselines/acme/a.png' }))
      await operator.remove(['records/a', 'baselines/acme/a.png'])
      await gateway.removePrefix('users/acme/')
      t.strictSame(await operator.list(''), [])
      if (front) t.strictSame([...front.hosts], [`${BUCKET}.${DOMAIN}`], 'every request has the bucket in the host name')

      if (!form.isVirtual || form.region === undefined) return
      const causeOf = (more: Record<string, string>) =>
        openBucket(gatewayConfig(more).storage)
          .check()
          .then(
            () => 'no error',
            (error: Error) => (error.cause as Error).message,
          )
      t.match(await causeOf({ TINTYPE_STORAGE_REGION: 'us-east-1' }), /eu-test-1.*set storage\.region|storage\.region/, 'another region')
      const isVirtualOnly = /only from the host name: set storage\.external\.pathStyle to false/
      t.match(await causeOf({ TINTYPE_STORAGE_PATH_STYLE: 'true' }), isVirtualOnly, 'another style: the error says which setting to change')
    })
  }

  t.test(`${kind} that reads the bucket from the path only: the error names the setting to change`, async (t) => {
    const { endpoint, gatewayConfig } = await startStore(t, store, { name: 'path style' })
    const more = { TINTYPE_STORAGE_ENDPOINT: endpoint.replace('127.0.0.1', DOMAIN), TINTYPE_STORAGE_PUBLIC_URL: '' }
    await openBucket(gatewayConfig(more).storage).check()
    const wrong = openBucket(gatewayConfig({ ...more, TINTYPE_STORAGE_PATH_STYLE: 'false' }).storage)
    await t.rejects(wrong.check(), { cause: { message: /responded with 40[05]\. .*set storage\.external\.pathStyle to true/ } })
  })
}
