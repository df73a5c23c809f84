import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { MAX_WAITING } from '../../../../api-gateway/src/plugins/protocol.ts'
import { assertEvery, assertSome } from '../../../support/accepts.ts'
import { eventually } from '../../../support/eventually.ts'
import { type LogLine, parseLogLines, recordLog } from '../../../support/sources/log-lines.ts'
import { aGateway, aScreenshot, FakeFiles, SCREENSHOT_ID, serveGateway } from '../fakes.ts'

// Requests over sockets: several in one packet, repeated headers, and clients that hang up.

type Gateway = ReturnType<typeof aGateway>

/** Listens, and connects a client. */
async function open(t: Test, gateway: Gateway) {
  const port = await serveGateway(t, gateway.app)
  const dial = () => connect(port, '127.0.0.1').on('error', () => {})
  return { ...gateway, dial }
}
const head = (line: string, ...headers: string[]): string => [line, 'Host: localhost', ...headers, '', ''].join('\r\n')

// A client may send requests before it has read earlier responses (RFC 9112, section 9.3.2). All of them fit into one packet.

/** Holds each request of a path below /v1 until it is released. */
async function listenHolding(t: Test) {
  const gateway = aGateway()
  const held: (() => void)[] = []
  const seen: string[] = []
  gateway.app.addHook('preHandler', (request, _, done) => {
    seen.push(request.url)
    held.push(done)
  })
  const { dial } = await open(t, gateway)
  const socket = dial()
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (chunk) => (received += chunk))
  t.teardown(() => socket.destroy())
  const send = (paths: readonly string[]) => socket.write(paths.map((path) => head(`GET ${path} HTTP/1.1`)).join(''))
  return { held, seen, send, socket, received: () => received }
}
const pathsOf = (count: number) => Array.from({ length: count }, (_, n) => `/v1/status?n=${n}`)
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

t.test('a packet with a thousand requests ends a gateway: the requests of a connection run one after the other', async (t) => {
  const { held, seen, send, received } = await listenHolding(t)
  const paths = pathsOf(5)
  send(paths)
  for (const [n, path] of paths.entries()) {
    await eventually('the request runs', async () => seen.length === n + 1)
    t.equal(seen[n], path)
    await nextTurn()
    t.equal(seen.length, n + 1, 'the next one waits for its response')
    held[n]?.()
  }
  await eventually('all responses arrive, in order', async () => received().split('HTTP/1.1 ').length === 6)
})

t.test('a connection with too many waiting requests closes', async (t) => {
  const { held, seen, send, socket } = await listenHolding(t)
  send(pathsOf(MAX_WAITING + 2))
  await once(socket, 'close')
  held[0]?.()
  await nextTurn()
  t.equal(seen.length, 1, 'its waiting requests do not run')
})

t.test('a client that closes its connection ends its waiting requests', async (t) => {
  const { held, seen, send, socket } = await listenHolding(t)
  send(pathsOf(3))
  await eventually('the first one runs', async () => seen.length === 1)
  socket.destroy()
  await once(socket, 'close')
  await new Promise((resolve) => setTimeout(resolve, 50))
  held[0]?.()
  await nextTurn()
  t.equal(seen.length, 1)
})

const shared = await open(t, aGateway())
const authorization = `Authorization: ${shared.headers.authorization}`

/** Sends requests in one packet, each with its path and its headers. Returns the responses: status and body. */
async function send(...requests: [path: string, ...headers: string[]][]) {
  const socket = shared.dial()
  const last = requests.length - 1
  const toText = ([path, ...headers]: string[], index: number) =>
    [`GET ${path} HTTP/1.1`, ...headers, ...(index === last ? ['Connection: close'] : []), '', ''].join('\r\n')
  socket.write(requests.map(toText).join(''))
  const text = Buffer.concat(await socket.toArray()).toString()
  return text.split(/(?=HTTP\/1\.1 \d)/).map((response) => ({ status: Number(response.split(' ')[1]), text: response }))
}

const repeated: [what: string, name: string, path: string, ...headers: string[]][] = [
  ['two hosts', 'Host', '/v1/status', 'Host: a.example', 'Host: b.example'],
  ['the same host twice, in another case', 'HOST', '/v1/status', 'host: a.example', 'HOST: a.example'],
  ['hosts that a proxy has joined', 'Host', '/v1/status', 'Host: a.example, b.example'],
  ['two keys', 'Authorization', '/v1/keys', 'Host: a', authorization, 'Authorization: Bearer other'],
  ['a key after another scheme', 'authorization', '/v1/keys', 'Host: a', 'Authorization: Basic YTpi', authorization.toLowerCase()],
  ['keys that a proxy has joined', 'Authorization', '/v1/keys', 'Host: a', `${authorization}, Bearer other`],
  ['two hosts of an unknown path', 'Host', '/nothing', 'Host: a', 'Host: b'],
]
for (const [what, name, path, ...headers] of repeated) {
  t.test(`the first of ${what} is read: the request is refused`, async (t) => {
    const [response] = await send([path, ...headers])
    t.equal(response?.status, 400)
    t.match(response?.text, `"message":"the request has more than one header ${name}: send one","code":"VALIDATION_ERROR"`)
    t.match(response?.text, /"request_id":"[0-9a-f-]{36}"/)
  })
}

t.test('of the requests of a packet, only those with a repeated header are refused', async (t) => {
  const ok: [string, ...string[]] = ['/v1/keys', 'Host: a', authorization]
  const responses = await send(ok, ['/v1/keys', 'Host: a', 'Host: b', authorization], ok)
  t.strictSame(
    responses.map(({ status }) => status),
    [200, 400, 200],
  )
})

t.test('one host, one key, and other repeated headers are accepted', async (t) => {
  const more = ['Accept: text/html', 'Accept: application/json', 'X-Forwarded-For: 10.0.0.1, 10.0.0.2', 'Cookie: a=1', 'Cookie: b=2']
  t.equal((await send(['/v1/keys', 'Host: a.example:8080', authorization, ...more]))[0]?.status, 200)
  t.equal((await send(['/v1/status', 'Host: [::1]:8080', 'Authorization: Digest username="a", realm="b"']))[0]?.status, 200)
})

// Clients hang up all the time: it is nothing that the people who run the gateway can repair, so no line of it is a warning or an error.

const INFO = 30

class EndlessFiles extends FakeFiles {
  readonly opened: Readable[] = []
  override async stat() {
    return { sizeBytes: 2 ** 40, etag: 'abc', lastModified: new Date() }
  }
  override async open() {
    const stream = new Readable({
      read() {
        this.push(Buffer.alloc(65_536))
      },
    })
    this.opened.push(stream)
    return stream
  }
  /** The streams from the store end with their requests. */
  whenEnded = () =>
    eventually('the stream has ended', async () => this.opened.length === 1 && this.opened.every(({ destroyed }) => destroyed))
}

interface HangUp {
  request: (gateway: Gateway) => string | Promise<string>
  /** When the client hangs up. */
  until: (received: string, gateway: Gateway) => boolean
  files?: EndlessFiles
  /** Called when the client is gone. */
  afterwards?: () => void
}

/** Sends a request to a gateway that listens, and hangs up. Returns the log of the gateway: no line is a warning or an error. */
async function hangUp(t: Test, { request, until, files = new EndlessFiles(), afterwards }: HangUp): Promise<LogLine[]> {
  const { log, text } = recordLog()
  const gateway = await open(t, aGateway({ log, files, publicUrl: '' }))
  gateway.screenshots.put(aScreenshot({ phase: 'Completed', status: { result: { format: 'png', fileSizeBytes: 2 ** 40 } } }))
  const socket = gateway.dial()
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (chunk) => (received += chunk.toString('latin1').slice(0, 1_000)))
  socket.write(await request(gateway))
  await eventually('it is time to hang up', async () => until(received, gateway))
  socket.resetAndDestroy()
  await eventually('the gateway has noticed', () => hasNoConnection(gateway))
  afterwards?.()
  await gateway.app.close()
  const lines = parseLogLines(text())
  assertEvery(t, lines, ({ level }) => level <= INFO)
  return lines
}

const hasNoConnection = ({ app }: Gateway): Promise<boolean> =>
  new Promise((resolve, reject) => app.server.getConnections((error, count) => (error ? reject(error) : resolve(count === 0))))
const post = (query: string, { headers }: Gateway, body: string, length = body.length): string =>
  head(
    `POST /v1/screenshots${query} HTTP/1.1`,
    `Authorization: ${headers.authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
  ) + body

t.test('a client that hangs up in the middle of its body is no error of the gateway', async (t) => {
  const request = (gateway: Gateway) => post('', gateway, '{"url": ', 1_000)
  const lines = await hangUp(t, { request, until: (_, { keys }) => keys.noted.size > 0 })
  assertSome(t, lines, ({ msg }) => msg === 'client closed the connection', 'it is logged at a level that is off by default')
})

t.test('a client that hangs up while its request is held is no error of the gateway', async (t) => {
  const request = (gateway: Gateway) => post('?wait=25', gateway, '{"url":"https://example.com/"}')
  await hangUp(t, { request, until: (_, { screenshots }) => screenshots.objects.size > 1 })
})

/** A request for the file of a completed screenshot. */
const fileRequest = async ({ call }: Gateway): Promise<string> =>
  head(`GET ${(await call('GET', `/screenshots/${SCREENSHOT_ID}/download`)).headers.location} HTTP/1.1`)

t.test('a client that hangs up in the middle of a file is no error of the gateway, and the stream from the store ends', async (t) => {
  const files = new EndlessFiles()
  await hangUp(t, { request: fileRequest, until: (received) => received.length > 1_000, files })
  await files.whenEnded()
})

t.test('a client that hangs up before the store answers is no error of the gateway', async (t) => {
  const files = new EndlessFiles()
  const hungUp = Promise.withResolvers<void>()
  const open = files.open.bind(files)
  let isAsked = false
  files.open = async () => {
    isAsked = true
    await hungUp.promise
    return open()
  }
  await hangUp(t, { request: fileRequest, until: () => isAsked, files, afterwards: hungUp.resolve })
  await files.whenEnded()
})
