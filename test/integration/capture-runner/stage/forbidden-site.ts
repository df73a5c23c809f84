import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http2 from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { Test } from 'tap'
import { createReceiverCertificate } from '../../../support/servers/https-receiver.ts'

// One server under several names, of which a capture policy allows some. All names have one address and one certificate, so only the name differs.

/** Answers a request of the site. */
export type Handler = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void

/** Starts the server, which ends with the test. Other paths than those of `pages` show a short page. @param names hosts of the certificate */
export async function startForbiddenSite(t: Test, names: readonly string[], pages: Record<string, string | Handler>) {
  const directory = t.testdir({})
  const paths = await createReceiverCertificate(directory, ['IP:127.0.0.1', ...names.map((name) => `DNS:${name}`)])
  const [key, cert] = await Promise.all([readFile(paths.key), readFile(paths.certificate)])
  /** Requests so far, as `host /path`. */
  const arrived: string[] = []
  const note = ({ headers, url }: http2.Http2ServerRequest) => {
    const host = (headers[':authority'] ?? headers.host ?? '').replace(/:\d+$/, '')
    arrived.push(`${host} ${url.split('?')[0]}`)
  }
  const sockets = new Set<Socket>()
  const server = http2.createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    note(request)
    const page = pages[request.url.split('?')[0] ?? '']
    if (typeof page === 'function') return page(request, response)
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'access-control-allow-origin': '*' })
    response.end(page ?? '<!doctype html><title>inside</title><body style="background:#f00">inside')
  })
  server.on('upgrade', (request, socket) => {
    note(request)
    socket.destroy()
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const spki = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' })
  return {
    arrived,
    port: (server.address() as AddressInfo).port,
    /** Flag with which a browser trusts the certificate. */
    trustFlag: `--ignore-certificate-errors-spki-list=${createHash('sha256').update(spki).digest('base64')}`,
  }
}
