import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import type { Ends } from '../processes/own-plane.ts'

/** Lets a server listen on a free port of loopback until the end. Returns the port. */
export async function listen(ends: Ends, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.teardown(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Serves on a free port of loopback until the end. Returns the origin. */
export async function serve(ends: Ends, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  const port = await listen(ends, server)
  ends.teardown(() => server.closeAllConnections())
  return `http://127.0.0.1:${port}`
}
