import { once } from 'node:events'
import net from 'node:net'

/** Accepts the browser's connections for one session, on loopback of the pod or of the jail. */
export interface Listener {
  /** The proxy URL to give to the browser. */
  readonly proxyUrl: string
  /** The port, if it is in the pod's network namespace. A page must not reach it through the guard. */
  readonly ownPort?: number
  /** Accepts connections from now on. Connections made while there is no handler are closed. */
  listen: (onConnection: (socket: net.Socket) => void) => void
  /** Stops listening. Depending on the implementation, the listener may serve another session afterwards. */
  release: () => void
}

/** Opens or finds a listener that no session uses. */
export type OpenListener = () => Promise<Listener>

/** Listens on the pod's own loopback, for a browser outside the jail. */
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
