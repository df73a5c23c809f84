import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

const CHUNK_BYTES = 256 * 1024

/** A server that never comes to an end, and what its clients took. */
export interface EndlessServer {
  url: string
  port: number
  /** Bytes handed to the network: what loopback buffers counts too, some megabytes a connection. */
  bytes: () => number
  /** Connections that the client closed. */
  closed: () => number
}

/** As much as loopback and the runtimes buffer of what nobody reads, generously: beyond it a client is reading without a limit. */
export const BUFFERED_BYTES = 32 * 1024 * 1024

/** Starts a server on loopback that writes `start`, then `more` for ever. It ends with the test. */
export async function startEndlessServer(t: Test, start: string, more: string): Promise<EndlessServer> {
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
  return { url: `http://127.0.0.1:${port}`, port, bytes: () => seen.bytes, closed: () => seen.closed }
}
