import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { socks5Connect } from '../../../capture-runner/src/egress/socks.ts'

/** What came back through the guard; `undefined` status: it closed the connection without an answer. */
export interface ProxyAnswer {
  status: number | undefined
  headers: string[]
  body: string
}

/** A request, beyond its address. */
export interface Asked {
  method?: string
  headers?: http.OutgoingHttpHeaders
  body?: string | Buffer
}

const NO_ANSWER: ProxyAnswer = { status: undefined, headers: [], body: '' }
const PATIENCE_MILLISECONDS = 30_000

/** Asks as a browser asks for plain http: on a connection of its own, through SOCKS. */
export const askThrough = async (proxyUrl: string, url: string, asked: Asked = {}): Promise<ProxyAnswer> => {
  const { hostname, port } = new URL(url)
  const socket = await tunnelThrough(proxyUrl, `${hostname}:${port || 80}`)
  return socket ? askOn(socket, url, asked) : NO_ANSWER
}

const askOn = (socket: net.Socket, url: string, { method = 'GET', headers = {}, body }: Asked): Promise<ProxyAnswer> =>
  new Promise((resolve) => {
    const { host, pathname, search } = new URL(url)
    const request = http.request({
      createConnection: () => socket,
      path: pathname + search,
      method,
      headers: { host, connection: 'close', ...headers },
    })
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => {})
      response.once('close', () => {
        const whole = { status: response.statusCode, headers: response.rawHeaders, body: Buffer.concat(chunks).toString() }
        resolve(response.complete ? whole : NO_ANSWER)
      })
    })
    request.once('error', () => resolve(NO_ANSWER))
    request.end(body)
  })

/** Opens a tunnel to `host:port`, as a browser does for everything. Undefined when the guard closed the connection. */
export const tunnelThrough = async (proxyUrl: string, authority: string): Promise<net.Socket | undefined> => {
  const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(authority) ?? []
  const socket = net.connect(Number(new URL(proxyUrl).port), '127.0.0.1')
  socket.on('error', () => {})
  try {
    await socks5Connect(socket, { host, port: Number(port) }, undefined, PATIENCE_MILLISECONDS)
    return socket
  } catch {
    socket.destroy()
    return undefined
  }
}

/** Sends bytes and gives everything until the other side closes. */
export const sendRaw = async (port: number, bytes: string | Buffer): Promise<string> => {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  return saidOn(socket)
}

/** Everything that comes on a connection until it closes. */
export const saidOn = async (socket: net.Socket): Promise<string> => {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}
