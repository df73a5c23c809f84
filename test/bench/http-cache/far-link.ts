import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a server that takes its time, both ways. */
export interface FarLink {
  port: number
  close: () => void
}

/**
 * Passes connections on to a port of loopback and delays what they carry by half a round trip in each direction; what a client sends first waits for
 * another round trip, which a connection takes to be made. TLS handshakes take their round trips by themselves.
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

/** @param earliest moment before which nothing sets out */
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
