import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'

/** What a forward proxy gave back; `undefined` status: it closed the connection without an answer. */
export interface ProxyAnswer {
  status: number | undefined
  headers: string[]
  body: string
}

const NO_ANSWER: ProxyAnswer = { status: undefined, headers: [], body: '' }

/** Asks as a browser asks for plain http: one absolute-form request on a connection of its own. */
export const askThrough = (
  proxyUrl: string,
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: http.OutgoingHttpHeaders; body?: string | Buffer } = {},
): Promise<ProxyAnswer> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(proxyUrl)
    const request = http.request({ hostname, port, path: url, method, headers: { host: new URL(url).host, ...headers }, agent: false })
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

/** Opens a tunnel as a browser does for https and WebSockets. Undefined when the proxy closed the connection. */
export const tunnelThrough = async (proxyUrl: string, authority: string): Promise<net.Socket | undefined> => {
  const socket = net.connect(Number(new URL(proxyUrl).port), new URL(proxyUrl).hostname)
  socket.on('error', () => {})
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [undefined])])) as [Buffer | undefined]
  if (chunk?.toString().startsWith('HTTP/1.1 200')) return socket
  socket.destroy()
  return undefined
}

/** Sends bytes and gives everything until the other side closes. */
export const sendRaw = async (port: number, bytes: string): Promise<string> => {
  const socket = net.connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}
