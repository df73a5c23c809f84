import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** A link to a server with latency in both directions. */
export interface FarLink {
  port: number
  close: () => void
}

/**
 * Forwards connections to a port on loopback, and delays data by half a round trip in each direction. The first data of a client waits
 * another round trip, which stands for the TCP handshake. TLS handshakes take their round trips by themselves.
 */
export async function openFarLink(target: number, roundTripMilliseconds: number): Promise<FarLink> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    const connected = performance.now() + roundTripMilliseconds
    carry(near, far, roundTripMilliseconds / 2, connected)
    carry(far, near, roundTripMilliseconds / 2, 0)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.once('close', () => sockets.delete(socket))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** @param earliest time before which no data is sent */
function carry(from: Socket, to: Socket, milliseconds: number, earliest: number): void {
  const later = (act: () => void): void => {
    const wait = Math.max(0, earliest - performance.now()) + milliseconds
    if (wait > 0) setTimeout(act, wait)
    else act()
  }
  from.on('data', (chunk: Buffer) => later(() => to.write(chunk)))
  from.on('end', () => later(() => to.end()))
  from.on('error', () => to.destroy())
}
