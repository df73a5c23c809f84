import { createHash, randomBytes } from 'node:crypto'
import { chmod, readdir } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { createDirectory } from '../../support/directory.ts'
import { type Nginx, startNginx } from '../../support/servers/nginx.ts'
import { chartDirectory, find, renderChart } from '../../support/sources/chart.ts'
import { complete } from './runner-role.ts'
import { startWorld } from './world.ts'

// A gateway behind nginx with TLS, configured as ingress-nginx would be for the Ingress of charts/tintype/examples/ingress-nginx.yaml: the view of a customer's client.

const HOST = 'shots.example.com'
const MEBIBYTE = 1024 * 1024

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
const key = await world.createKey({ accountName: 'acme' })
// The gateway derives its public URL from the proxy's headers.
const gateway = await world.startGateway()
const directory = await createDirectory(t, 'proxy')

const values = path.join(chartDirectory, 'examples/ingress-nginx.yaml')
const objects = await renderChart({}, ['--values', values])
const { annotations = {} } = find(objects, 'Ingress', 'tintype-api-gateway').metadata
const start = async (name: string, given?: Record<string, string>): Promise<Nginx> => {
  const where = path.join(directory, name)
  const nginx = await startNginx({ directory: where, host: HOST, upstream: gateway.url, ...(given ? { annotations: given } : {}) })
  t.teardown(() => nginx.stop())
  return nginx
}
// The proxy's workers run as another user.
await chmod(directory, 0o711)
const proxy = await start('annotated', annotations)

interface Told {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}
interface Ask {
  method?: string
  body?: string
  headers?: Record<string, string>
  /** Bytes after which the connection is cut. */
  until?: number
}

/** Sends a request to the proxy under its public name. */
async function ask(url: string, { method = 'GET', body, headers = {}, until }: Ask = {}, { port, ca }: Nginx = proxy): Promise<Told> {
  const address = new URL(url, `https://${HOST}:${port}`)
  const sent = request(address, {
    method,
    ca,
    agent: false,
    lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject).end(body)
  })
  const told = { status: response.statusCode ?? 0, headers: response.headers }
  if (until === undefined) return { ...told, bytes: await buffer(response) }
  const pieces: Buffer[] = []
  for await (const piece of response) {
    pieces.push(piece as Buffer)
    if (pieces.reduce((sum, { length }) => sum + length, 0) >= until) break
  }
  return { ...told, bytes: Buffer.concat(pieces) }
}
const jsonOf = ({ bytes }: Told) => JSON.parse(bytes.toString())
const create = (body: object, query = '') => ask(`/api/v1/screenshots${query}`, { method: 'POST', body: JSON.stringify(body) })
const url = 'https://example.com/'
/** A body of the given size that is rejected only after it has been read. */
const bodyOf = (bytes: number): string => {
  const around = JSON.stringify({ url, padding: '' }).length
  return JSON.stringify({ url, padding: 'x'.repeat(bytes - around) })
}
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

t.test('through a proxy: a request is held for 25 seconds and ends as documented', async (t) => {
  const { status, bytes } = await create({ url }, '?wait=25')
  t.equal(status, 202)
  t.match(JSON.parse(bytes.toString()), { status: 'pending' })
})

t.test('through a proxy: a held request ends when the capture finishes', async (t) => {
  const created = await create({ url })
  t.match(created.headers['x-request-id'], /^[0-9a-f]{32}$/, 'the request id of the proxy is kept')
  const { id } = jsonOf(created)
  const held = ask(`/api/v1/screenshots/${id}?wait=25`)
  await complete(id, randomBytes(1000), world)
  t.match(jsonOf(await held), { id, status: 'completed' })
})

t.test('through a proxy: a body of 8 MiB arrives, and the gateway rejects one of more than 14 MiB', async (t) => {
  const largest = await ask('/api/v1/screenshots', { method: 'POST', body: bodyOf(8 * MEBIBYTE) })
  t.equal(largest.status, 400, 'the gateway read the body')
  t.match(jsonOf(largest), { error: { details: [{ path: 'padding', code: 'unknown_field' }] } })
  const beyond = await ask('/api/v1/screenshots', { method: 'POST', body: bodyOf(14 * MEBIBYTE + 1) })
  t.equal(beyond.status, 413)
  t.match(jsonOf(beyond), { success: false, error: { code: 'PAYLOAD_TOO_LARGE' } })
})

t.test('through a proxy: links are absolute, with the host and scheme of the client', async (t) => {
  const { id } = jsonOf(await create({ url }))
  await complete(id, randomBytes(1000), world)
  const record = jsonOf(await ask(`/api/v1/screenshots/${id}?wait=10`))
  t.ok(record.download_url.startsWith(`https://${HOST}:${proxy.port}/files/users/acme/${id}.png?`), record.download_url)
  const leads = await ask(`/api/v1/screenshots/${id}/download`)
  t.equal(leads.status, 302)
  t.ok(leads.headers.location?.startsWith(`https://${HOST}:${proxy.port}/files/`))
  t.equal((await ask(leads.headers.location ?? '')).status, 200)
})

t.test('through a proxy: a file of 60 MB arrives completely, in ranges, and resumed', { timeout: 120_000 }, async (t) => {
  const file = randomBytes(60_000_000)
  const { id } = jsonOf(await create({ url }))
  await complete(id, file, world)
  const { download_url: link } = jsonOf(await ask(`/api/v1/screenshots/${id}?wait=10`))
  const whole = await ask(link)
  t.strictSame([whole.status, whole.headers['content-length']], [200, String(file.length)])
  t.equal(digest(whole.bytes), digest(file))
  const part = await ask(link, { headers: { range: 'bytes=50000000-50000099' } })
  t.strictSame([part.status, part.headers['content-range']], [206, `bytes 50000000-50000099/${file.length}`])
  t.ok(part.bytes.equals(file.subarray(50_000_000, 50_000_100)))
  const cut = await ask(link, { until: 20_000_000 })
  const rest = await ask(link, { headers: { range: `bytes=${cut.bytes.length}-`, 'if-range': cut.headers.etag ?? '' } })
  t.equal(rest.status, 206)
  t.equal(digest(Buffer.concat([cut.bytes, rest.bytes])), digest(file))
  t.strictSame(await readdir(path.join(proxy.temporary, 'proxy')), [], 'the proxy wrote nothing to its disk')
})

t.test('control: without these annotations, the proxy itself rejects bodies that the API allows', async (t) => {
  const bare = await start('bare')
  const { status, headers } = await ask('/api/v1/screenshots', { method: 'POST', body: bodyOf(2 * MEBIBYTE) }, bare)
  t.equal(status, 413)
  t.match(headers['content-type'], 'text/html')
})
