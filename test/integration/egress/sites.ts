// Servers for the guard's tests to reach: real sockets on loopback, closed with the test.

import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import type { Test } from 'tap'

/** A site and its connections. */
export interface Site {
  port: number
  /** Number of connections since the start. */
  connections: number
  /** Open connections. */
  sockets: Set<net.Socket>
}

const portOf = (server: net.Server): number => (server.address() as net.AddressInfo).port

const watch = async (t: Test, server: net.Server, close: () => void): Promise<Site> => {
  const site: Site = { port: 0, connections: 0, sockets: new Set() }
  server.on('connection', (socket: net.Socket) => {
    site.connections += 1
    site.sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => site.sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    close()
    for (const socket of site.sockets) socket.destroy()
  })
  site.port = portOf(server)
  return site
}

/** Responds with the request as JSON. */
export const tellRequest: http.RequestListener = async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.rawHeaders, body }))
}

export const startSite = (t: Test, listener: http.RequestListener = tellRequest): Promise<Site> => {
  const server = http.createServer({ keepAliveTimeout: 60_000 }, listener)
  return watch(t, server, () => server.closeAllConnections())
}

/** Passes every connection to `onSocket`, for responses that no http server would send. */
export const startRawSite = (t: Test, onSocket: (socket: net.Socket) => void): Promise<Site> => {
  const server = net.createServer({ allowHalfOpen: true }, onSocket)
  return watch(t, server, () => {})
}

/** Responds to the first bytes of each connection with fixed bytes, and closes it. */
export const startFixedSite = (t: Test, bytes: string): Promise<Site> =>
  startRawSite(t, (socket) => socket.once('data', () => socket.end(bytes, 'latin1')))
