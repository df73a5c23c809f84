import { once } from 'node:events'
import net from 'node:net'

/** Where the browser's connections to one session come in: a listening socket on loopback, the pod's or the jail's. */
export interface Listener {
  /** The proxy address as the browser must be told it. */
  readonly proxyUrl: string
  /** The port, if it is one of the pod's own; a page must not reach it by way of the guard. */
  readonly ownPort?: number
  /** Takes every connection from now on; those made while no one listens are closed. */
  listen: (onConnection: (socket: net.Socket) => void) => void
  /** Ends the listening; the listener may serve another session afterwards or not, as its maker likes. */
  release: () => void
}

/** Finds a listener that no session uses. */
export type OpenListener = () => Promise<Listener>

/** A listener on the pod's own loopback, for a browser that is not jailed. */
export const openLoopbackListener: OpenListener = async () => {
  const server = net.createServer({ allowHalfOpen: true, noDelay: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  return {
    proxyUrl: `socks5://127.0.0.1:${port}`,
    ownPort: port,
    listen: (onConnection) => void server.on('connection', onConnection),
    release: () => void server.close(),
  }
}
