import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { CertificatePaths } from '../../../cluster/kubernetes/pki.ts'

// Clients' forward proxies, of all three kinds. They resolve every name to loopback. So a site with an unknown name can only have been reached through
// the proxy.

/** A running proxy. */
export interface ForwardProxy {
  /** `127.0.0.1:<port>` */
  host: string
  /** Requested targets as `host:port`, including refused ones. */
  targets: string[]
}

/** Required `user:password`. */
type Credentials = string | undefined

const open = async (t: Test, server: net.Server): Promise<string> => {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const join = (client: net.Socket, port: number, onOpen: () => void): void => {
  const onward = net.connect(port, '127.0.0.1', () => {
    onOpen()
    client.pipe(onward).pipe(client)
  })
  onward.on('error', () => client.destroy())
  client.on('error', () => onward.destroy()).on('close', () => onward.destroy())
}

/** Starts an HTTP proxy, over TLS if there is a certificate. */
export async function startHttpProxy(t: Test, credentials?: Credentials, certificate?: CertificatePaths): Promise<ForwardProxy> {
  const targets: string[] = []
  const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`
  const isWelcome = ({ headers }: http.IncomingMessage) => wanted === undefined || headers['proxy-authorization'] === wanted
  const server = certificate
    ? https.createServer({ key: await readFile(certificate.key), cert: await readFile(certificate.certificate) })
    : http.createServer()
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    const url = new URL(request.url ?? '')
    targets.push(url.host)
    if (!isWelcome(request)) return void response.writeHead(407).end()
    const { 'proxy-authorization': _, ...headers } = request.headers
    const onward = http.request({
      host: '127.0.0.1',
      port: url.port,
      path: url.pathname + url.search,
      method: request.method ?? 'GET',
      headers,
    })
    onward.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)))
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.on('connect', (request: http.IncomingMessage, socket: net.Socket) => {
    targets.push(request.url ?? '')
    socket.on('error', () => socket.destroy())
    if (!isWelcome(request)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    join(socket, Number(request.url?.split(':').at(-1)), () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
  })
  return { host: await open(t, server), targets }
}

/** Starts a SOCKS 5 proxy. */
export async function startSocksProxy(t: Test, credentials?: Credentials): Promise<ForwardProxy> {
  const targets: string[] = []
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy())
    serveSocks(socket, credentials, targets).catch(() => socket.destroy())
  })
  return { host: await open(t, server), targets }
}

async function serveSocks(socket: net.Socket, credentials: Credentials, targets: string[]): Promise<void> {
  let bytes = Buffer.alloc(0)
  const read = async (length: number): Promise<Buffer> => {
    while (bytes.length < length) {
      const more: Buffer | null = socket.read()
      if (more) bytes = Buffer.concat([bytes, more])
      else await once(socket, 'readable')
    }
    const taken = bytes.subarray(0, length)
    bytes = bytes.subarray(length)
    return taken
  }
  const text = async () => (await read((await read(1))[0] ?? 0)).toString()
  const [, count = 0] = await read(2)
  const methods = [...(await read(count))]
  const method = credentials === undefined ? 0 : 2
  if (!methods.includes(method)) return void socket.end(Buffer.from([5, 255]))
  socket.write(Buffer.from([5, method]))
  if (credentials !== undefined) {
    await read(1)
    const isWelcome = `${await text()}:${await text()}` === credentials
    socket.write(Buffer.from([1, isWelcome ? 0 : 1]))
    if (!isWelcome) return void socket.end()
  }
  const [, , , kind] = await read(4)
  const host = kind === 3 ? await text() : [...(await read(kind === 1 ? 4 : 16))].join(kind === 1 ? '.' : ':')
  const port = (await read(2)).readUInt16BE()
  targets.push(`${host}:${port}`)
  join(socket, port, () => socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])))
}
