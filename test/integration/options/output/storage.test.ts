import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import tls from 'node:tls'
import { Client } from 'minio'
import t from 'tap'
import { capture } from '../../../../capture-runner/src/capture/capture.ts'
import { type CopyParts, copyPicture } from '../../../../capture-runner/src/capture/copy.ts'
import { createGuard, type Guard } from '../../../../capture-runner/src/egress/guard.ts'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import type { PrivateOptions } from '../../../../crds/src/options/private.ts'
import { objectKey } from '../../../../crds/src/records/storage-keys.ts'
import { certificatePaths } from '../../../cluster/kubernetes/pki.ts'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import { createReceiverCertificate } from '../../../support/servers/https-receiver.ts'
import { openBucket } from '../../capture-runner/stage/bucket.ts'
import { anOrder, partsOf } from '../../capture-runner/stage/orders.ts'
import { LOOPBACK_POLICY, policyWith } from '../../capture-runner/stage/studio.ts'
import { openStage, page } from '../options.ts'

// The copy in the client's own storage, with a real browser and a real storage over TLS.

const DOMAIN = 'store.test'
const directory = t.testdir({})
const certificate = await createReceiverCertificate(directory, ['IP:127.0.0.1', 'IP:::1', `DNS:*.${DOMAIN}`])
tls.setDefaultCACertificates([...tls.getCACertificates('default'), await readFile(certificatePaths(directory, 'ca').certificate, 'utf8')])
const [bucket, stage] = await Promise.all([
  openBucket(t, { MINIO_DOMAIN: DOMAIN }),
  openStage(t, { '/': page('background:#0f0', '<p>text') }),
])
const { store } = bucket

/** Number of connections so far, and number of next connections to break. */
let connections = 0
/** The first line of the last request. */
let lastLine = ''
let broken = 0
const identity = { key: await readFile(certificate.key), cert: await readFile(certificate.certificate) }
const pass = (socket: tls.TLSSocket) => {
  connections++
  socket.on('error', () => {})
  if (broken > 0 && broken--) return void socket.destroy()
  const upstream = net.connect(store.port, '127.0.0.1')
  upstream.on('error', () => socket.destroy())
  socket.on('close', () => upstream.destroy())
  socket.once('data', (chunk: Buffer) => (lastLine = chunk.toString('latin1').split('\r\n')[0] ?? ''))
  socket.pipe(upstream).pipe(socket)
}
/** Starts a TLS proxy of the storage at an IP address. Returns its port. */
async function startFront(host: string): Promise<number> {
  const server = tls.createServer(identity, pass).listen(0, host)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}
const port = await startFront('127.0.0.1')
const { accessKey, secretKey } = store
const client = new Client({
  endPoint: '127.0.0.1',
  port: store.port,
  useSSL: false,
  accessKey,
  secretKey,
  region: 'us-east-1',
  pathStyle: true,
})
const BUCKET = 'acme-pictures'
await client.makeBucket(BUCKET)
const options: CaptureOptions = {
  viewportWidth: 300,
  viewportHeight: 200,
  storageBucket: BUCKET,
  storageEndpoint: `https://127.0.0.1:${port}`,
}
const secrets: PrivateOptions = { storageAccessKeyId: accessKey, storageSecretAccessKey: secretKey }
const guard = createGuard({ ownAddresses: [] })

interface Given {
  options?: CaptureOptions
  secrets?: PrivateOptions
  guard?: Guard
}

/** Runs an order like a runner. Returns its report and the id. */
async function shoot(given: Given = {}) {
  const id = newId('scr', new Date())
  const name = toObjectName(id)
  const order = anOrder({
    ...{ uid: name, name, url: stage.site.url('/'), upload: bucket.uploadOf(objectKey('default', id, 'png')) },
    options: { ...options, ...given.options },
    privateOptions: { ...secrets, ...given.secrets },
  })
  const parts = { ...partsOf(stage), guard: given.guard ?? guard }
  const { outcome, error } = await capture(order, parts, new AbortController().signal)
  return { id, outcome, error, own: await bucket.read(objectKey('default', id, 'png')) }
}
const copyOf = async (key: string) =>
  client.getObject(BUCKET, key).then(
    (stream) => buffer(stream),
    () => undefined,
  )

t.test('option storage_bucket, storage_endpoint, storage_access_key_id, storage_secret_access_key: copies the screenshot', async (t) => {
  const { id, outcome, own } = await shoot()
  t.equal(outcome.phase, 'Completed', JSON.stringify(outcome))
  t.ok(own)
  t.strictSame(await copyOf(`${id}.png`), own?.bytes)
  t.match(await client.statObject(BUCKET, `${id}.png`), { metaData: { 'content-type': 'image/png' } })
})

t.test('option storage_path: sets the key of the copy', async (t) => {
  const { id } = await shoot({ options: { storagePath: "it's/{host}/{date}/{id} (1).{format}" } })
  t.ok(await copyOf(`it's/127.0.0.1/${new Date().toISOString().slice(0, 10)}/${id} (1).png`))
})

t.test('option storage_region: is in the signature of the request', async (t) => {
  const { outcome } = await shoot({ options: { storageRegion: 'eu-central-1' } })
  t.equal(outcome.phase, 'Completed')
  // MinIO accepts every region unless it has its own.
  t.match(lastLine, /^PUT \/acme-pictures\/.*%2Feu-central-1%2Fs3%2Faws4_request/)
  await shoot()
  t.match(lastLine, /%2Fus-east-1%2Fs3%2Faws4_request/, 'unless said')
})

t.test('option storage_path_style: false has the bucket in the host name', async (t) => {
  const dns = await startDnsServer((name) => (name === `${BUCKET}.${DOMAIN}` ? { addresses: ['127.0.0.1'] } : undefined))
  t.teardown(() => dns.close())
  const named = createGuard({ ownAddresses: [], dnsServers: [dns.address] })
  const { outcome, id } = await shoot({
    options: { storageEndpoint: `https://${DOMAIN}:${port}`, storagePathStyle: false },
    guard: named,
  })
  t.equal(outcome.phase, 'Completed', JSON.stringify(outcome))
  t.match(lastLine, new RegExp(`^PUT /${id}\\.png\\?`), 'the bucket is not in the path')
  t.ok(await copyOf(`${id}.png`))
  t.ok(
    dns.queries.every((name) => name === `${BUCKET}.${DOMAIN}`),
    dns.queries.join(),
  )
})

/** Copies a file without a capture. */
const copy = (key: string, { endpoint = options.storageEndpoint ?? '', ...more }: Partial<CopyParts> & { endpoint?: string } = {}) => {
  const plan = { endpoint, bucket: BUCKET, region: 'us-east-1', accessKey, secretKey, path: '', pathStyle: false }
  const parts = { guard, policy: LOOPBACK_POLICY, ...more }
  return copyPicture(Buffer.from('a'), plan, { key, contentType: 'image/png' }, parts, AbortSignal.timeout(60_000))
}

t.test('a copy reaches a storage with an IPv6 address, if pages may', async (t) => {
  const endpoint = `https://[::1]:${await startFront('::1')}`
  await t.rejects(copy('six', { endpoint }), { code: 'BLOCKED_ADDRESS', message: /^storage_endpoint: .*::1/ })
  t.equal(await copyOf('six'), undefined)
  await copy('six', { endpoint, policy: policyWith({ allowedCidrs: ['::1/128'] }) })
  t.match(lastLine, /^PUT \/acme-pictures\/six\?/, 'an IP address has no subdomain for the bucket')
  t.strictSame(await copyOf('six'), Buffer.from('a'))
})

t.test('a copy that the storage rejects fails the capture permanently, and stores nothing', async (t) => {
  const secret = 'Zq7planted7Secret'
  const { outcome, error, own } = await shoot({ secrets: { storageSecretAccessKey: secret } })
  t.match(outcome.result.error, { code: 'COPY_FAILED', message: /the storage returned 403 SignatureDoesNotMatch$/ })
  t.equal(error?.retryable, false)
  t.equal(own, undefined)
  t.notMatch(JSON.stringify(outcome), secret)
  t.match((await shoot({ options: { storageBucket: 'no-such-bucket' } })).outcome.result.error, { message: /404 NoSuchBucket$/ })
})

t.test('a copy is retried when the storage is briefly unavailable', async (t) => {
  broken = 2
  const { id, outcome } = await shoot()
  t.equal(outcome.phase, 'Completed')
  t.ok(await copyOf(`${id}.png`))
})

t.test('an unavailable storage fails the copy with a reason', async (t) => {
  broken = 3
  const before = connections
  await t.rejects(copy('away', { delays: [1, 1] }), { code: 'COPY_FAILED', message: /did not respond/ })
  t.equal(connections - before, 3)
})

t.test('no copy reaches an address that is denied to pages', async (t) => {
  const before = connections
  const denied = copy('inner', { policy: policyWith({ allowedCidrs: [] }) })
  await t.rejects(denied, { code: 'BLOCKED_ADDRESS', message: /^storage_endpoint: / })
  t.equal(connections, before)
  await copy('inner')
  t.equal(connections, before + 1, 'the control: what the rules open is reached')
})

t.test('a storage with an untrusted certificate receives nothing', async (t) => {
  // The name is not in the certificate, but resolves to the same storage.
  const named = { connect: () => guard.connect({ host: '127.0.0.1', port: port }, LOOPBACK_POLICY) }
  const copied = copy('unproved', { endpoint: 'https://localhost.example:1', guard: named, delays: [] })
  await t.rejects(copied, { code: 'COPY_FAILED', message: /ERR_TLS_CERT_ALTNAME_INVALID/ })
  t.equal(await copyOf('unproved'), undefined)
})
