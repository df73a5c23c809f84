import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { MAX_WAITING } from '../../../../api-gateway/src/plugins/pipelining.ts'
import { eventually } from '../../../support/eventually.ts'
import { aGateway } from '../fakes.ts'

// A client may send requests before it has read earlier responses (RFC 9112, section 9.3.2). All of them fit into one packet.

/** Listens, and holds each request of a path below /v1 until it is released. */
async function listen(t: Test) {
  const { app } = aGateway()
  const held: (() => void)[] = []
  const seen: string[] = []
  app.addHook('preHandler', (request, _, done) => {
    seen.push(request.url)
    held.push(done)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  let received = ''
  socket.on('data', (chunk) => (received += chunk)).on('error', () => {})
  t.teardown(() => socket.destroy())
  const send = (paths: readonly string[]) => socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
  return { held, seen, send, socket, received: () => received }
}
const pathsOf = (count: number) => Array.from({ length: count }, (_, n) => `/v1/status?n=${n}`)

t.test('a packet with a thousand requests ends a gateway: the requests of a connection run one after the other', async (t) => {
  const { held, seen, send, received } = await listen(t)
  const paths = pathsOf(5)
  send(paths)
  for (const [n, path] of paths.entries()) {
    await eventually('the request runs', async () => seen.length === n + 1)
    t.equal(seen[n], path)
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(seen.length, n + 1, 'the next one waits for its response')
    held[n]?.()
  }
  await eventually('all responses arrive, in order', async () => received().split('HTTP/1.1 ').length === 6)
})

t.test('a connection with too many waiting requests closes', async (t) => {
  const { held, seen, send, socket } = await listen(t)
  send(pathsOf(MAX_WAITING + 2))
  await once(socket, 'close')
  held[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(seen.length, 1, 'its waiting requests do not run')
})

t.test('a client that closes its connection ends its waiting requests', async (t) => {
  const { held, seen, send, socket } = await listen(t)
  send(pathsOf(3))
  await eventually('the first one runs', async () => seen.length === 1)
  socket.destroy()
  await once(socket, 'close')
  await new Promise((resolve) => setTimeout(resolve, 50))
  held[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(seen.length, 1)
})
