import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import path from 'node:path'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { buildMetrics } from '../../../../../api-gateway/src/metrics/metrics.ts'
import { Downloads } from '../../../../../api-gateway/src/resources/files/downloads.ts'
import { signLink } from '../../../../../crds/src/crypto/signatures.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { createDirectory } from '../../../../support/directory.ts'
import { eventually } from '../../../../support/eventually.ts'
import { stopClock } from '../../../../support/fakes/stop-clock.ts'
import { aGateway, aScreenshot, FakeFiles, NOW, serveGateway } from '../../fakes.ts'

// Downloads over real connections whose clients do not read. A gateway has few slots here, so that few connections fill them.

const SLOTS = 8
const BLOCK = Buffer.alloc(65_536)
/** Larger than the buffers of a connection. */
const LARGE = 2 ** 40
const SMALL = 100
const ring = { current: 'a', keys: { a: Buffer.alloc(32, 1).toString('base64') } }

/** Files of acme do not end, all others are small. */
class SlowAndFastFiles extends FakeFiles {
  override async stat(key: string) {
    return { sizeBytes: key.includes('/acme/') ? LARGE : SMALL, etag: 'abc', lastModified: NOW }
  }
  override async open(key: string) {
    return key.includes('/acme/') ? new Readable({ read: readBlock }) : Readable.from([Buffer.alloc(SMALL)])
  }
}

function readBlock(this: Readable): void {
  this.push(BLOCK)
}

/** A gateway that listens, with a function that stores a screenshot and returns its link. */
async function start(t: Test) {
  const metrics = buildMetrics()
  const downloads = new Downloads({ max: SLOTS, metrics, now: () => performance.now() })
  const gateway = aGateway({ files: new SlowAndFastFiles(), downloads, metrics, keyRing: () => ring, publicUrl: '' })
  const port = await serveGateway(t, gateway.app)
  const linkOf = (accountName: string): string => {
    const id = newId('scr', NOW)
    gateway.screenshots.put(aScreenshot({ id, accountName, phase: 'Completed', status: { result: { format: 'png' } } }))
    return signLink({ key: objectKey(accountName, id, 'png'), expires: Math.floor(NOW.getTime() / 1_000) + 3_600 }, ring)
  }
  /** Requests a link once or several times in one connection, and reads only the beginning of the first response. */
  const downloadUnread = async (link: string, times = 1) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.write(`GET ${link} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(times))
    const [data] = (await once(socket, 'data')) as [Buffer]
    socket.pause()
    return { socket, status: data.toString('latin1', 9, 12) }
  }
  const download = async (link: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${link}`)
    return { status: response.status, bytes: (await response.arrayBuffer()).byteLength }
  }
  const count = async (name: string, labels: Record<string, string>) => {
    const metric = await metrics.registry.getSingleMetric(name)?.get()
    return metric?.values.find((value) => Object.entries(labels).every(([label, text]) => value.labels[label] === text))?.value
  }
  return { gateway, downloads, linkOf, downloadUnread, download, count }
}

t.test('unread downloads of one link make the download of another account fail', async (t) => {
  const { linkOf, downloadUnread, download, downloads, count } = await start(t)
  const attacked = linkOf('acme')
  const statuses: string[] = []
  for (let n = 0; n < 2 * SLOTS; n++) statuses.push((await downloadUnread(attacked)).status)
  t.strictSame(statuses, [...Array(SLOTS).fill('200'), ...Array(SLOTS).fill('503')], 'one account may use all slots, and no more')
  t.strictSame(await download(linkOf('other')), { status: 200, bytes: SMALL })
  t.strictSame(await download(linkOf('third')), { status: 200, bytes: SMALL })
  t.ok(downloads.active < SLOTS, 'the slots of the two downloads are free again')
  t.equal(await count('screenshot_downloads_ended_total', { reason: 'share' }), 1)
  t.equal(await count('screenshot_downloads_refused_total', { reason: 'replica' }), SLOTS)
})

t.test('downloads that a client requested in one connection have one slot, which is free after it has left', async (t) => {
  const { linkOf, downloadUnread, downloads } = await start(t)
  const { socket } = await downloadUnread(linkOf('acme'), SLOTS)
  t.equal(downloads.active, 1)
  socket.resetAndDestroy()
  await eventually('all slots are free', async () => downloads.active === 0, 5_000)
})

t.test('a client that reads a large response from memory slowly is taken for one that does not read', async (t) => {
  let now = 0
  // Otherwise a busy machine takes a sample of its own, after which the kernel still has bytes for the client but gets none.
  stopClock(t, 'setInterval')
  const downloads = new Downloads({ max: SLOTS, metrics: buildMetrics(), now: () => now })
  const server = createServer((_request, response) => {
    downloads.watch({ account: 'acme', file: 'users/acme/a' }, response)
    response.end(Buffer.alloc(2 ** 26))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  let received = 0
  const read = async (bytes: number) => {
    const end = received + bytes
    socket.resume()
    while (received < end) received += ((await once(socket, 'data')) as [Buffer])[0].length
    socket.pause()
  }
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  for (let minutes = 1; minutes <= 3; minutes++) {
    await read(2 ** 23)
    now = minutes * 60_000
    downloads.sample()
    t.equal(downloads.active, 1, `still running after ${minutes} minutes`)
  }
  for (const milliseconds of [1_000, 60_000]) {
    now += milliseconds
    downloads.sample()
  }
  t.equal(downloads.active, 0, 'ended without progress')
})

t.test('a client that reads nothing of a static file holds it for ever: it ends after a minute, and others are served', async (t) => {
  let now = 0
  stopClock(t, 'setInterval')
  const metrics = buildMetrics()
  const downloads = new Downloads({ max: 1, metrics, now: () => now })
  const directory = await createDirectory(t, 'console')
  await writeFile(path.join(directory, 'app-1.js'), Buffer.alloc(2 ** 22))
  const asset = { type: 'text/javascript', path: path.join(directory, 'app-1.js'), encodings: [] }
  const consoleFiles = { page: Buffer.alloc(2 ** 20), tag: '"a"', assets: new Map([['app-1.js', asset]]) }
  const { app } = aGateway({ console: consoleFiles, downloads, metrics })
  const port = await serveGateway(t, app)
  const open = (url: string, times: number) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.pause()
    socket.write(`GET ${url} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n`.repeat(times))
    return socket
  }
  const sockets: Socket[] = []
  app.server.on('connection', (socket: Socket) => sockets.push(socket))
  // Together, the responses of a connection are larger than its buffers.
  const unread = [open('/', 60), open('/console/assets/app-1.js', 60), open('/docs/swagger-ui-bundle.js', 60), open('/v1/openapi.json', 64)]
  const reader = open('/console/assets/app-1.js', 60)
  const count = () => sockets.map(({ bytesWritten, writableLength }) => bytesWritten - writableLength).join()
  let before = ''
  await eventually('the buffers are full', async () => {
    const isSame = sockets.length === 5 && before === count()
    before = count()
    await new Promise((resolve) => setTimeout(resolve, 50))
    return isSame
  })
  downloads.sample()
  now = 59_000
  let received = 0
  reader.on('data', ({ length }: Buffer) => (received += length)).resume()
  await eventually('the reader goes on', async () => received > 2 ** 24)
  reader.pause()
  downloads.sample()
  t.equal(sockets.filter(({ destroyed }) => destroyed).length, 0)
  t.equal(downloads.active, 0, 'they take no slot')
  now = 60_000
  downloads.sample()
  await eventually('the unread ones have ended', async () => sockets.filter(({ destroyed }) => destroyed).length === unread.length)
  t.equal((await metrics.downloadsEnded.get()).values.find(({ labels }) => labels.reason === 'stalled')?.value, unread.length)
})

/** Each file has 64 MiB. Counts the requested parts, and those whose stream has closed. */
class LargeFiles extends FakeFiles {
  readonly parts: { start: number; end: number }[] = []
  closed = 0
  override async stat() {
    return { sizeBytes: 64 * 2 ** 20, etag: 'abc', lastModified: NOW }
  }
  override async open(_: string, range: { start: number; end: number }) {
    this.parts.push(range)
    const blocks = Array.from({ length: (range.end - range.start + 1) / BLOCK.length }, () => BLOCK)
    return Readable.from(blocks).once('close', () => this.closed++)
  }
}

t.test('an unread download of a large file does not fill the buffers of the kernel with all of it', async (t) => {
  const files = new LargeFiles()
  const { app, screenshots } = aGateway({ files, keyRing: () => ring, publicUrl: '' })
  const port = await serveGateway(t, app)
  const id = newId('scr', NOW)
  screenshots.put(aScreenshot({ id, accountName: 'acme', phase: 'Completed', status: { result: { format: 'png' } } }))
  const link = signLink({ key: objectKey('acme', id, 'png'), expires: Math.floor(NOW.getTime() / 1_000) + 3_600 }, ring)
  const requestParts = async (act: (socket: ReturnType<typeof connect>) => Promise<unknown>) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(`GET ${link} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    await once(socket, 'readable')
    await act(socket)
    socket.destroy()
    await eventually('each requested part is closed', async () => files.closed === files.parts.length)
  }

  await requestParts(async () => {
    let before = -1
    await eventually('no further part is requested', async () => {
      const isSame = before === files.parts.length
      before = files.parts.length
      return isSame && before > 0
    })
  })
  t.ok(files.parts.length < 32, `${files.parts.length} of 128 parts were requested`)

  files.parts.length = 0
  files.closed = 0
  await requestParts((socket) => once(socket.resume(), 'end'))
  t.equal(files.parts.length, 128)
  t.equal(files.parts[0]?.start, 0)
  t.ok(files.parts.every(({ start }, n) => n === 0 || start === files.parts[n - 1]!.end + 1))
  t.equal(files.parts.at(-1)?.end, 64 * 2 ** 20 - 1)
})
