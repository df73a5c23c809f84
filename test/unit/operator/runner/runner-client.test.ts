import { generateKeyPairSync } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { compactDecrypt, exportJWK, generateKeyPair } from 'jose'
import t, { type Test } from 'tap'
import { FencedError } from '../../../../crds/src/runtime/fence.ts'
import {
  createSigner,
  encryptOrder,
  type RunnerAddress,
  RunnerClient,
  toEncryptionKey,
} from '../../../../operator/src/runner/runner-client.ts'
import { DispatchKey } from '../../../../operator/src/secrets/release-keys.ts'
import { eventually } from '../../../support/eventually.ts'
import { BUFFERED_BYTES, startEndlessServer } from '../../../support/servers/endless-server.ts'
import { listen } from '../../../support/servers/serve.ts'

const runner: RunnerAddress = { uid: '6b1f7f0e-0000-4000-8000-00000000000a', ip: '127.0.0.1' }
const sign = await createSigner(DispatchKey.parse(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })))

function connect(t: Test, port: number, mayWrite?: () => boolean): RunnerClient {
  const client = new RunnerClient(sign, { port, ...(mayWrite && { mayWrite }) })
  t.teardown(() => client.close())
  return client
}

/** A client of a runner that responds as the test says. */
async function connectTo(t: Test, respond: RequestListener, mayWrite?: () => boolean): Promise<RunnerClient> {
  return connect(t, await listen(t, createServer(respond)), mayWrite)
}

const { x = '' } = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })
const key = toEncryptionKey({ publicKey: { kty: 'OKP', crv: 'X25519', x } })
const order = { uid: 'a', attempt: 1, deadline: Date.now() + 60_000 } as Parameters<RunnerClient['post']>[2]

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'

t.test('RunnerClient limits the size of an endless response: each request fails at its limit', async (t) => {
  const server = await startEndlessServer(t, `${OK}\r\n`, '[[[[[[[[')
  const client = connect(t, server.port)
  await t.rejects(client.identity(runner), /more than 65536 bytes/)
  t.strictSame(await client.getCapture(runner, 'a', 1, { seconds: 30, until: 'finished' }), { response: 'silent' })
  await client.cancel(runner, 'a')
  await eventually('the client closed each connection', async () => server.closed() === 3)
  t.ok(server.bytes() < 3 * BUFFERED_BYTES, `${server.bytes()} bytes were taken`)
})

t.test('RunnerClient does not decompress a response and rejects a content-length beyond the limit', async (t) => {
  for (const header of [`content-length: ${2 ** 40}`, 'content-encoding: gzip']) {
    const server = await startEndlessServer(t, `${OK}${header}\r\n\r\n`, '\u0000'.repeat(64))
    await t.rejects(connect(t, server.port).identity(runner), /more than 65536 bytes/)
    await eventually('the client closed the connection', async () => server.closed() === 1)
    t.ok(server.bytes() < BUFFERED_BYTES, `${server.bytes()} bytes were taken`)
  }
})

t.test('RunnerClient limits the headers of a runner to a few KiB', async (t) => {
  const server = await startEndlessServer(t, OK, `x-more: ${'y'.repeat(1_000)}\r\n`)
  await t.rejects(connect(t, server.port).identity(runner), { code: 'UND_ERR_HEADERS_OVERFLOW' })
  await eventually('the client closed the connection', async () => server.closed() === 1)
  t.ok(server.bytes() < BUFFERED_BYTES, `${server.bytes()} bytes were taken`)
})

t.test('RunnerClient treats a busy runner with an unreadable response as unavailable', async (t) => {
  const client = await connectTo(t, (_, response) => void response.writeHead(409).end('{"uid":7}'))
  t.strictSame(await client.post(runner, key, order), { outcome: 'unavailable' })
})

t.test('RunnerClient sends neither orders nor cancellations after the lease is lost, and still asks', async (t) => {
  const arrived: string[] = []
  const lease = { isHeld: true }
  const respond: RequestListener = ({ method = '' }, response) => {
    arrived.push(method)
    response.writeHead(404).end()
  }
  const client = await connectTo(t, respond, () => lease.isHeld)
  t.match(await client.post(runner, key, order), { outcome: 'refused' })
  await client.cancel(runner, 'a')
  t.strictSame(arrived.splice(0), ['POST', 'DELETE'], 'control: the leader writes')
  lease.isHeld = false
  await t.rejects(client.post(runner, key, order), FencedError)
  await client.cancel(runner, 'a')
  t.strictSame(await client.getCapture(runner, 'a', 1), { response: 'absent' })
  t.strictSame(arrived, ['GET'])
})

const keyPair = async () => {
  const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'X25519' })
  const { x = '' } = await exportJWK(publicKey)
  return { privateKey, key: toEncryptionKey({ publicKey: { kty: 'OKP', crv: 'X25519', x } }) }
}

t.test('encryptOrder produces a JWE that a library decrypts with the private key', async (t) => {
  const { key, privateKey } = await keyPair()
  for (const text of ['{}', JSON.stringify({ password: 'schön, 密' }), 'x'.repeat(100_000)]) {
    const { plaintext, protectedHeader } = await compactDecrypt(encryptOrder(text, key), privateKey, {
      keyManagementAlgorithms: ['ECDH-ES'],
      contentEncryptionAlgorithms: ['A256GCM'],
    })
    t.equal(new TextDecoder().decode(plaintext), text)
    t.equal(protectedHeader.alg, 'ECDH-ES')
  }
})

t.test('encryptOrder uses a new key and a new nonce each time', async (t) => {
  const { key } = await keyPair()
  const [first, second] = [encryptOrder('same', key), encryptOrder('same', key)].map((jwe) => jwe.split('.'))
  for (const part of [0, 2, 3, 4]) t.not(first?.[part], second?.[part])
})

t.test('encryptOrder produces a JWE that no other key decrypts and that detects changes', async (t) => {
  const { key, privateKey } = await keyPair()
  const jwe = encryptOrder('secret', key)
  await t.rejects(compactDecrypt(jwe, (await keyPair()).privateKey))
  const parts = jwe.split('.')
  for (const part of [0, 2, 3, 4]) {
    const changed = parts.map((text, index) => (index === part ? `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}` : text)).join('.')
    await t.rejects(compactDecrypt(changed, privateKey), `part ${part}`)
  }
})

t.test('toEncryptionKey rejects a key of another type', async (t) => {
  t.throws(() => toEncryptionKey({ publicKey: { kty: 'OKP', crv: 'X25519', x: 'AA' } }))
})
