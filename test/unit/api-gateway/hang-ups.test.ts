import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { type LogLine, parseLogLines, recordLog } from '../../support/sources/log-lines.ts'
import { aGateway, aScreenshot, FakeFiles, SCREENSHOT_ID } from './fakes.ts'

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
}

interface HangUpOptions {
  files?: EndlessFiles
  /** Called when the client is gone. */
  afterwards?: () => void
}

/** Sends `request` to a gateway that listens, and hangs up when `until` says so; gives what the gateway logged. */
async function hangUp(
  request: (gateway: ReturnType<typeof aGateway>) => string | Promise<string>,
  until: (received: string, gateway: ReturnType<typeof aGateway>) => boolean,
  { files = new EndlessFiles(), afterwards }: HangUpOptions = {},
): Promise<{ lines: LogLine[]; files: EndlessFiles }> {
  const { log, text } = recordLog()
  const gateway = aGateway({ log, files, publicUrl: '' })
  gateway.screenshots.put(aScreenshot({ phase: 'Completed', status: { result: { format: 'png', fileSizeBytes: 2 ** 40 } } }))
  await gateway.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = gateway.app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (chunk) => (received += chunk.toString('latin1').slice(0, 1_000)))
  socket.on('error', () => undefined)
  socket.write(await request(gateway))
  await eventually('it is time to hang up', async () => until(received, gateway))
  socket.resetAndDestroy()
  await eventually('the gateway has noticed', async () => (await connections(gateway)) === 0)
  afterwards?.()
  await gateway.app.close()
  return { lines: parseLogLines(text()), files }
}

const connections = ({ app }: ReturnType<typeof aGateway>): Promise<number> =>
  new Promise((resolve, reject) => app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))))
const head = (line: string, headers: Record<string, string>): string =>
  `${[line, 'Host: localhost', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`
const loud = (lines: readonly LogLine[]): LogLine[] => lines.filter(({ level }) => level > INFO)

t.test('a client that hangs up in the middle of its body is no error of the gateway', async (t) => {
  const { lines } = await hangUp(
    ({ headers }) =>
      `${head('POST /v1/screenshots HTTP/1.1', { ...headers, 'content-type': 'application/json', 'content-length': '1000' })}{"url": `,
    (_received, { keys }) => keys.uses.size > 0,
  )
  t.strictSame(loud(lines), [])
  t.ok(
    lines.some(({ msg }) => msg === 'client closed the connection'),
    'it is logged at a level that is off by default',
  )
})

t.test('a client that hangs up while its request is held is no error of the gateway', async (t) => {
  const body = JSON.stringify({ url: 'https://example.com/' })
  const { lines } = await hangUp(
    ({ headers }) =>
      head('POST /v1/screenshots?wait=25 HTTP/1.1', {
        ...headers,
        'content-type': 'application/json',
        'content-length': String(body.length),
      }) + body,
    (_received, { screenshots }) => screenshots.objects.size > 1,
  )
  t.strictSame(loud(lines), [])
})

/** A request for the file of a completed screenshot. */
const fileRequest = async ({ app, headers }: ReturnType<typeof aGateway>): Promise<string> => {
  const { headers: responded } = await app.inject({ url: `/v1/screenshots/${SCREENSHOT_ID}/download`, headers })
  return head(`GET ${responded.location} HTTP/1.1`, {})
}

t.test('a client that hangs up in the middle of a file is no error of the gateway, and the stream from the store ends', async (t) => {
  const { lines, files } = await hangUp(fileRequest, (received) => received.length > 1_000)
  t.strictSame(loud(lines), [])
  await eventually('the stream has ended', async () => files.opened.length === 1 && files.opened.every(({ destroyed }) => destroyed))
})

t.test('a client that hangs up before the store answers is no error of the gateway', async (t) => {
  const files = new EndlessFiles()
  const hungUp = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const open = files.open.bind(files)
  files.open = async () => {
    asked.resolve()
    await hungUp.promise
    return open()
  }
  let isAsked = false
  void asked.promise.then(() => (isAsked = true))
  const { lines } = await hangUp(fileRequest, () => isAsked, { files, afterwards: hungUp.resolve })
  t.strictSame(loud(lines), [])
  await eventually('the stream has ended', async () => files.opened.length === 1 && files.opened.every(({ destroyed }) => destroyed))
})
