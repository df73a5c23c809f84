import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { isRuntimeReady } from '../../cluster/kubernetes/cri.ts'

/** A runtime that answers each call by `answer`. Returns its socket. */
async function startRuntime(t: Test, answer: (stream: ServerHttp2Stream) => void): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-cri-'))
  const socket = path.join(directory, 'socket')
  const server = createServer().on('stream', answer)
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  t.teardown(async () => {
    server.close()
    await rm(directory, { recursive: true })
  })
  return socket
}

t.test('the kubelet ended because containerd had not initialized its runtime service', async (t) => {
  let isInitialized = false
  const socket = await startRuntime(t, (stream) => {
    if (!isInitialized) {
      const status = { 'grpc-status': '2', 'grpc-message': 'server is not initialized yet' }
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true })
      return
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.alloc(5))
  })
  t.equal(await isRuntimeReady(socket), false)
  isInitialized = true
  t.equal(await isRuntimeReady(socket), true)
})

t.test('isRuntimeReady is false without a socket', async (t) => {
  t.equal(await isRuntimeReady(path.join(tmpdir(), 'tintype-no-such-socket')), false)
})

t.test('isRuntimeReady is false when the runtime closes the connection', async (t) => {
  const socket = await startRuntime(t, (stream) => void stream.session?.destroy())
  t.equal(await isRuntimeReady(socket), false)
})
