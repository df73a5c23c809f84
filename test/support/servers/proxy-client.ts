import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { socks5Connect } from '../../../capture-runner/src/egress/socks.ts'

/** A response through the egress proxy. `status` is undefined if the proxy closed the connection without a response. */
export interface ProxyResponse {
  status: number | undefined
  headers: string[]
  body: string
}

/** A request without its URL. */
export interface ProxyRequest {
  method?: string
  headers?: http.OutgoingHttpHeaders
  body?: string | Buffer
}

const NO_ANSWER: ProxyResponse = { status: undefined, headers: [], body: '' }
const PATIENCE_MILLISECONDS = 30_000

/** Sends a request for plain http as a browser does: on a new connection, through SOCKS. */
export const askThrough = async (proxyUrl: string, url: string, asked: ProxyRequest = {}): Promise<ProxyResponse> => {
  const { hostname, port } = new URL(url)
  const socket = await tunnelThrough(proxyUrl, `${hostname}:${port || 80}`)
  return socket ? askOn(socket, url, asked) : NO_ANSWER
}

const askOn = (socket: net.Socket, url: string, { method = 'GET', headers = {}, body }: ProxyRequest): Promise<ProxyResponse> =>
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

/** Opens a tunnel to `host:port`, as browsers do for all requests. Undefined when the egress proxy closed the connection. */
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

/** Sends bytes and resolves to everything that the other side sends until it closes. */
export const sendRaw = async (port: number, bytes: string | Buffer): Promise<string> => {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  return saidOn(socket)
}

/** All data of a connection until it closes. */
export const saidOn = async (socket: net.Socket): Promise<string> => {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}
