// Connects through a forward proxy by HTTP CONNECT, as Smokescreen and squid support it. The proxy resolves names, so it must check the addresses.
// TLS is end to end with the endpoint: the proxy does not see the contents.

import { request } from 'node:http'
import type { Socket } from 'node:net'
import { MAX_HEADER_BYTES } from '@tintype/crds/runtime/limited-read'

/** The proxy does not respond or rejects the target. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError'
}

/** Target of a tunnel. */
export interface TunnelTarget {
  /** Host name or IP address, without brackets. */
  host: string
  port: number
}

/** Opens a tunnel. @throws ProxyError */
export function openTunnel(proxy: URL, target: TunnelTarget, timeoutMilliseconds: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
  const connecting = request({
    host: proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: proxy.port === '' ? 80 : Number(proxy.port),
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorizationOf(proxy) },
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    signal: AbortSignal.timeout(timeoutMilliseconds),
  })
  const refuse = (status: number | undefined) => reject(new ProxyError(`the proxy responded with ${status}`))
  connecting.on('connect', ({ statusCode }, socket: Socket, head) => {
    if (statusCode !== 200) {
      socket.destroy()
      return refuse(statusCode)
    }
    if (head.length > 0) socket.unshift(head)
    resolve(socket)
  })
  connecting.on('response', (response) => {
    response.destroy()
    refuse(response.statusCode)
  })
  connecting.on('error', (cause) => reject(new ProxyError('the proxy does not respond', { cause })))
  connecting.end()
  return promise
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
}
