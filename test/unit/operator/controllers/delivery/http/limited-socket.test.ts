import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { LimitedSocket } from '../../../../../../operator/src/controllers/delivery/http/limited-socket.ts'
import { eventually } from '../../../../../support/eventually.ts'

/** A socket with a limit, the other end of its connection, and what it has read. */
async function setUp(t: Test, { bytes = 1_024, records = 64 } = {}) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
  const [sender] = (await once(server, 'connection')) as [Socket]
  const limited = new LimitedSocket(socket, { bytes, records })
  const read: Buffer[] = []
  limited.on('data', (chunk: Buffer) => read.push(chunk))
  sender.on('error', () => undefined)
  t.teardown(() => {
    limited.destroy()
    sender.destroy()
    server.close()
  })
  return { sender, socket, limited, text: () => Buffer.concat(read).toString() }
}

t.test('LimitedSocket passes on bytes in both directions, up to its limit, and ends with its connection', async (t) => {
  const { sender, limited, text } = await setUp(t)
  limited.write('question')
  const [question] = await once(sender, 'data')
  t.equal(question.toString(), 'question')
  const ended = once(limited, 'close')
  sender.end('x'.repeat(1_024))
  await ended
  t.equal(text().length, 1_024)
  t.notOk(limited.errored)
})

t.test('LimitedSocket delivers the bytes within its limit, then fails and closes its connection', async (t) => {
  const { sender, socket, limited, text } = await setUp(t)
  const failed = once(limited, 'error')
  sender.write('x'.repeat(100_000))
  const [error] = await failed
  t.match(error, { name: 'TooLongError', message: 'the endpoint sent more than 1 KiB' })
  t.equal(text().length, 1_024)
  t.ok(socket.destroyed)
  await eventually('the sender sees it', async () => sender.destroyed)
})

t.test('LimitedSocket allows as many bytes again after a restart', async (t) => {
  const { sender, limited, text } = await setUp(t)
  for (let n = 1; n <= 3; n++) {
    sender.write('x'.repeat(1_000))
    await eventually('they arrive', async () => text().length === n * 1_000)
    limited.restart()
  }
  t.notOk(limited.destroyed)
})

t.test('LimitedSocket leaves bytes in the connection while its reader pauses', async (t) => {
  const { sender, socket, limited, text } = await setUp(t, { bytes: 1_048_576 })
  limited.pause()
  sender.write('x'.repeat(1_000_000))
  await eventually('the connection pauses', async () => socket.isPaused())
  t.ok(limited.readableLength < 500_000, `${limited.readableLength} bytes are buffered`)
  limited.resume()
  await eventually('all bytes arrive', async () => text().length === 1_000_000)
})

/** A TLS record of application data. */
function toRecord(body: string): Buffer {
  const header = Buffer.from([23, 3, 3, 0, 0])
  header.writeUInt16BE(body.length, 3)
  return Buffer.concat([header, Buffer.from(body)])
}

t.test('an endpoint that sends a response in thousands of tiny TLS records is cut off after a limit of records', async (t) => {
  for (const size of [1, 2, 7, 4_096]) {
    const { sender, socket, limited, text } = await setUp(t, { bytes: 65_536, records: 10 })
    const failed = once(limited, 'error')
    const allowed = Buffer.concat(Array.from({ length: 10 }, (_, n) => toRecord('x'.repeat(n % 3))))
    const sent = Buffer.concat([allowed, toRecord('x'), toRecord('x')])
    for (let at = 0; at < sent.length; at += size) {
      sender.write(sent.subarray(at, at + size))
      // Lets the parts arrive one by one, also within a header.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const [error] = await failed
    t.match(error, { name: 'TooLongError', message: 'the endpoint sent more than 10 TLS records' })
    t.equal(text(), allowed.toString())
    t.ok(socket.destroyed)
  }
})

t.test('a response of few records passes, and as many may follow after a restart', async (t) => {
  const { sender, limited, text } = await setUp(t, { bytes: 65_536, records: 2 })
  const record = toRecord('y'.repeat(5_000))
  for (let n = 1; n <= 3; n++) {
    sender.write(Buffer.concat([record, record]))
    await eventually('they arrive', async () => text().length === n * 2 * record.length)
    limited.restart()
  }
  t.notOk(limited.destroyed)
})

t.test('LimitedSocket reports errors of its connection', async (t) => {
  const { sender, limited } = await setUp(t)
  const failed = once(limited, 'error')
  sender.resetAndDestroy()
  const [error] = await failed
  t.match(error, { code: 'ECONNRESET' })
})
