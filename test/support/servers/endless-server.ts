import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

const CHUNK_BYTES = 256 * 1024

/** Generous estimate of what loopback and the runtimes buffer. Above it, a client reads without a limit. */
export const BUFFERED_BYTES = 32 * 1024 * 1024

/** Starts a server on loopback that writes `start` and then `more` forever. It ends with the test. */
export async function startEndlessServer(t: Test, start: string, more: string) {
  const seen = { bytes: 0, closed: 0 }
  const chunk = Buffer.from(more.repeat(Math.ceil(CHUNK_BYTES / more.length)))
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const pour = () => {
      let hasRoom = !socket.destroyed
      while (hasRoom) {
        seen.bytes += chunk.length
        hasRoom = socket.write(chunk) && !socket.destroyed
      }
    }
    socket.on('error', () => undefined)
    socket.on('close', () => {
      seen.closed++
    })
    socket.once('data', () => {
      socket.write(start)
      socket.on('drain', pour)
      pour()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    /** Bytes written to sockets. This includes the buffers of loopback, some megabytes per connection. */
    bytes: () => seen.bytes,
    /** Connections that the client closed. */
    closed: () => seen.closed,
  }
}
