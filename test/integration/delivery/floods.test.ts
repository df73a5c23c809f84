// Receivers that send without end, in every part of a response and of the TLS connection. A post may read only a few KiB from them, and it
// ends in time.

import { type ChildProcess, spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { buildGuardedAgent } from '../../../operator/src/controllers/delivery/http/guarded-agent.ts'
import { post } from '../../../operator/src/controllers/delivery/http/post.ts'
import { certificatePaths } from '../../cluster/kubernetes/pki.ts'
import { startFloodingReceiver } from '../../support/attack/flooding-receiver.ts'
import { DRIPS, FLOODS_AFTER_HEADERS, FLOODS_AFTER_RESPONSE, FLOODS_BEFORE_RESPONSE } from '../../support/attack/floods.ts'
import { createDirectory } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { listen } from '../../support/servers/serve.ts'

const TIMEOUT_MILLISECONDS = 10_000
/** For receivers that never send a whole response. */
const SHORT_TIMEOUT_MILLISECONDS = 400
/** Decrypted bytes that a post may read: fewer than the bytes of its connection, whose limit is 64 KiB. */
const MAX_BYTES = 64 * 1024

const directory = await createDirectory(t, 'floods')
const receiver = await startFloodingReceiver(directory)
t.teardown(() => receiver.end())

/** Sockets on which posts were sent. */
const sockets: Socket[] = []
const noteSocket = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
subscribe('undici:client:sendHeaders', noteSocket)
t.teardown(() => unsubscribe('undici:client:sendHeaders', noteSocket))
t.beforeEach(() => {
  sockets.length = 0
})

async function send(t: Test, url: string, timeoutMilliseconds = TIMEOUT_MILLISECONDS) {
  const dispatcher = buildGuardedAgent({
    rules: { ...DEFAULT_EGRESS_RULES, allowedCidrs: ['127.0.0.0/8'] },
    ownAddresses: [],
    resolve: async () => ['127.0.0.1'],
    ca: [receiver.ca],
    connections: 4,
    connectMilliseconds: timeoutMilliseconds,
  })
  t.teardown(() => dispatcher.destroy())
  return post({ url, headers: {}, body: '{}' }, { dispatcher, timeoutMilliseconds })
}

async function assertClosed(t: Test): Promise<void> {
  for (const { bytesRead } of sockets) t.ok(bytesRead <= MAX_BYTES, `${bytesRead} bytes were read`)
  t.equal(sockets.length, 1)
  await eventually('the connection is closed', async () => sockets.every(({ destroyed }) => destroyed))
  await eventually('the receiver sees it', async () => (await receiver.counts()).open === 0)
}

for (const flood of [...Object.keys(FLOODS_BEFORE_RESPONSE), ...Object.keys(FLOODS_AFTER_HEADERS)]) {
  t.test(`a post to a receiver that floods (${flood}) fails at a limit`, async (t) => {
    t.match(await send(t, `${receiver.url}/${flood}`), {
      isSuccess: false,
      end: 'oversized',
      detail: /the endpoint sent more than ((64|16) KiB|256 TLS records)/,
    })
    await assertClosed(t)
  })
}

for (const flood of Object.keys(FLOODS_AFTER_RESPONSE)) {
  t.test(`a post to a receiver that floods after its response (${flood}) succeeds and closes the connection`, async (t) => {
    t.match(await send(t, `${receiver.url}/${flood}`), { isSuccess: true, end: 'answered' })
    await assertClosed(t)
  })
}

for (const drip of Object.keys(DRIPS)) {
  t.test(`a post to a receiver that sends a byte at a time (${drip}) fails in time`, async (t) => {
    t.match(await send(t, `${receiver.url}/${drip}`, SHORT_TIMEOUT_MILLISECONDS), { isSuccess: false, end: 'timeout' })
    await assertClosed(t)
  })
}

t.test('a post to a receiver that sends TLS session tickets without end fails after 64 KiB', async (t) => {
  const { certificate, key } = certificatePaths(directory, 'receiver')
  const options = ['-accept', '127.0.0.1:0', '-cert', certificate, '-key', key, '-num_tickets', '20000']
  const server = spawn('openssl', ['s_server', ...options], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => void server.kill())
  const port = await readPort(server)
  t.match(await send(t, `https://127.0.0.1:${port}/`), { isSuccess: false, end: 'oversized' })
})

t.test('a post to a receiver that never ends its handshake fails in time, and its connection is closed', async (t) => {
  for (const bytes of ['', '\x16\x03\x03\x10\x00']) {
    const closed = Promise.withResolvers<void>()
    const server = createServer((socket) => {
      socket.write(bytes)
      socket.on('error', () => undefined)
      socket.resume().on('close', closed.resolve)
    })
    const url = `https://127.0.0.1:${await listen(t, server)}/`
    t.match(await send(t, url, SHORT_TIMEOUT_MILLISECONDS), { isSuccess: false, end: 'timeout' })
    await closed.promise
  }
})

t.test('a post refuses to repeat the handshake of TLS 1.2', async (t) => {
  const { certificate, key } = certificatePaths(directory, 'receiver')
  const [cert, privateKey] = await Promise.all([readFile(certificate), readFile(key)])
  let isRepeated = false
  const server = createTlsServer({ cert, key: privateKey, maxVersion: 'TLSv1.2' }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.renegotiate({ rejectUnauthorized: false }, (error) => {
        isRepeated = error === null
      })
    })
  })
  t.match(await send(t, `https://127.0.0.1:${await listen(t, server)}/`, SHORT_TIMEOUT_MILLISECONDS), { isSuccess: false, end: 'timeout' })
  t.notOk(isRepeated)
})

/** The port of `openssl s_server`. */
async function readPort(server: ChildProcess): Promise<number> {
  let output = ''
  for await (const chunk of server.stdout ?? []) {
    output += chunk
    const port = /ACCEPT .*:(\d+)/.exec(output)?.[1]
    if (port !== undefined) return Number(port)
  }
  throw new Error(`openssl s_server did not start: ${output}`)
}
