import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, type TLSSocket } from 'node:tls'
import type { FloodCounts } from './flooding-receiver.ts'
import { FLOODS, type Flood } from './floods.ts'

const BLOCK_BYTES = 64 * 1024

/** An https server that floods its clients, and what it has seen. The path of a request names the flood; other paths get 200. */
export function createFloodingServer({ certificate, key }: { certificate: string; key: string }) {
  const seen: FloodCounts = { requests: 0, connections: 0, open: 0 }
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key), ALPNProtocols: ['http/1.1'] }, (socket) => {
    seen.connections++
    seen.open++
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      seen.open--
    })
    socket.on('data', (data: Buffer) => {
      const path = /^POST \/(\S*) /.exec(data.toString('latin1'))?.[1]
      if (path === undefined) return // a later part of a request
      seen.requests++
      void respond(socket, FLOODS[path])
    })
  })
  return { server, seen }
}

async function respond(socket: TLSSocket, flood: Flood | undefined): Promise<void> {
  if (!flood) return void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  socket.write(flood.start)
  if (flood.dripMilliseconds !== undefined) return drip(socket, flood.more, flood.dripMilliseconds)
  const block = flood.hasSmallRecords ? flood.more : flood.more.repeat(Math.ceil(BLOCK_BYTES / flood.more.length))
  // One write at a time: several small ones would share a record.
  const pour = (error?: Error | null) => {
    if (!error && socket.writable) socket.write(block, pour)
  }
  pour()
}

async function drip(socket: TLSSocket, more: string, milliseconds: number): Promise<void> {
  for (let n = 0; !socket.destroyed; n++) {
    socket.write(more.charAt(n % more.length))
    await sleep(milliseconds)
  }
}

/** In a process of its own, so that the event loop of its client is measured alone. Arguments: the files of certificate and key. Sends its port. */
if (import.meta.main) {
  const [certificate = '', key = ''] = process.argv.slice(2)
  const { server, seen } = createFloodingServer({ certificate, key })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
  process.on('message', () => process.send?.(seen))
  process.on('disconnect', () => process.exit())
}
