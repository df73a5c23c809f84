import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A site on loopback. */
export type PageServer = Awaited<ReturnType<typeof servePages>>

export type Pages = Record<string, string | RequestListener>

/** A file of this type, which arrives after some milliseconds. */
export const serving =
  (type: string, body: string | Buffer, milliseconds = 0): RequestListener =>
  (_, response) =>
    void setTimeout(() => response.writeHead(200, { 'content-type': type }).end(body), milliseconds)

/** An SVG image of one color. */
export const drawing = (fill: string, width: number, height = width): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="${fill}"/></svg>`

/** A green SVG image, which arrives after some milliseconds. */
export const servingGreen = (width: number, height = width, milliseconds = 0): RequestListener =>
  serving('image/svg+xml', drawing('#0f0', width, height), milliseconds)

/** Serves pages on a free port of 127.0.0.1. `pages` maps paths to HTML or to request handlers. Other paths return 404. */
export async function servePages(pages: Pages) {
  /** Oldest first, as `GET /path`. */
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://pages')
    requests.push(`${request.method} ${request.url}`)
    const page = pages[pathname]
    if (typeof page === 'function') return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(page ?? '<!doctype html><title>Not here</title><body style="margin:0;background:#808080"><h1>404</h1>')
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    requests,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
