// Connects to a target, for a page or for the runner's own upload to a client's URL. Both follow the same rules and use the same proxy.

import http from 'node:http'
import type net from 'node:net'
import tls from 'node:tls'
import { isAddressLiteral } from '@tintype/crds/addresses/address-rules'
import { MAX_HEADER_BYTES } from '@tintype/crds/runtime/limited-read'
import { type DialTimes, dial } from './dial.ts'
import { EgressError, RefusedHostError } from './egress-error.ts'
import { checkTarget, dialDirect, type EgressPolicy, ignore, type ParentProxy, parentFor, type RouteContext, type Target } from './route.ts'
import { socks5Connect } from './socks.ts'

/** A connection, and the IP address that it reached (absent when a parent proxy connected). */
interface Connected {
  socket: net.Socket
  address: string | undefined
}

/** Resolves, checks and connects to a target. @throws EgressError */
export async function connect(target: Target, context: RouteContext): Promise<Connected> {
  const host = checkTarget(target, context)
  const parent = parentFor(host, context.policy)
  if (parent) return { socket: await tunnelThroughParent(parent, host, target.port, context), address: undefined }
  const socket = await dialDirect(host, target.port, context)
  return { socket, address: socket.remoteAddress }
}

// Opens a tunnel through another proxy: by CONNECT for an http or https proxy, by the SOCKS handshake for socks5.

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks5:': 1080 }

const isSocks = ({ url }: ParentProxy): boolean => url.startsWith('socks5:')

/** True for a parent proxy that gets unencrypted requests instead of a tunnel: the policy's own proxy, unless it speaks SOCKS. */
export const takesRequests = (parent: ParentProxy | undefined, policy: EgressPolicy): parent is ParentProxy =>
  parent !== undefined && parent === policy.parentProxy && !isSocks(parent)

/** User and password in a proxy's URL, or undefined. */
function credentialsOf(proxy: ParentProxy): { username: string; password: string } | undefined {
  const { username, password } = new URL(proxy.url)
  if (username === '' && password === '') return undefined
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/** `Basic …` for the user and password in the proxy's URL, or undefined. */
export const proxyAuthorization = (proxy: ParentProxy): string | undefined => {
  const credentials = credentialsOf(proxy)
  return credentials && `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
}

/** Connects to the parent proxy. @throws EgressError BLOCKED_ADDRESS or URL_NOT_ALLOWED for the host of a user's proxy, else PROXY_FAILED */
export const dialParent = async (proxy: ParentProxy, context: RouteContext): Promise<net.Socket> => {
  const url = new URL(proxy.url)
  const port = Number(url.port) || (DEFAULT_PORTS[url.protocol] ?? 80)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  try {
    const socket = await reach(proxy, host, port, context)
    return url.protocol === 'https:' ? await startTls(socket, host, context.times) : socket
  } catch (error) {
    const message = `the proxy ${host}:${port}: ${(error as Error).message}`
    if (error instanceof RefusedHostError) throw error
    if (!(error instanceof EgressError) || error.code !== 'BLOCKED_ADDRESS')
      throw new EgressError('PROXY_FAILED', message, { cause: error })
    throw new EgressError('BLOCKED_ADDRESS', message, { publicMessage: 'the address of the proxy is not open to captures', cause: error })
  }
}

/** The operator's proxy is trusted. A user's proxy is not, and is reached through the operator's if there is one. */
async function reach(proxy: ParentProxy, host: string, port: number, context: RouteContext): Promise<net.Socket> {
  if (proxy.chosenBy === 'operator') return dial(isAddressLiteral(host) ? [host] : await context.resolve(host), port, context.times)
  const checked = checkTarget({ host, port }, context)
  const via = proxy.via && parentFor(checked, context.policy, proxy.via)
  return via ? tunnelThroughParent(via, checked, port, context) : dialDirect(checked, port, context)
}

/** @throws EgressError PROXY_FAILED, also when the proxy refuses the target */
const tunnelThroughParent = async (proxy: ParentProxy, host: string, port: number, context: RouteContext): Promise<net.Socket> => {
  const socket = await dialParent(proxy, context)
  socket.on('error', ignore)
  try {
    if (isSocks(proxy)) await socks5Connect(socket, { host, port }, credentialsOf(proxy), context.times.connectTimeoutMilliseconds)
    else await askForTunnel(socket, proxy, `${host.includes(':') ? `[${host}]` : host}:${port}`, context.times)
    return socket
  } catch (error) {
    socket.destroy()
    throw new EgressError('PROXY_FAILED', `the proxy ${new URL(proxy.url).host} ${(error as Error).message}`, { cause: error })
  }
}

const askForTunnel = (socket: net.Socket, proxy: ParentProxy, authority: string, times: DialTimes): Promise<void> => {
  const authorization = proxyAuthorization(proxy)
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void => {
      clearTimeout(deadline)
      reject(new Error(reason, { cause }))
    }
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...(authorization ? { 'proxy-authorization': authorization } : {}) },
      createConnection: () => socket,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    const deadline = setTimeout(() => fail('did not answer in time'), times.connectTimeoutMilliseconds)
    request.once('connect', (response, tunnel, head) => {
      if (response.statusCode !== 200) return fail(`answered ${response.statusCode} to CONNECT ${authority}`)
      clearTimeout(deadline)
      if (head.length > 0) tunnel.unshift(head)
      resolve()
    })
    request.once('response', (response) => fail(`answered ${response.statusCode} to CONNECT ${authority}`))
    request.on('error', (error) => fail('broke off', error))
    request.end()
  })
}

const startTls = (socket: net.Socket, host: string, times: DialTimes): Promise<net.Socket> =>
  new Promise((resolve, reject) => {
    const secured = tls.connect({ socket, ...(isAddressLiteral(host) ? {} : { servername: host }) })
    const tooLate = setTimeout(() => secured.destroy(new Error('it did not speak TLS in time')), times.connectTimeoutMilliseconds)
    secured.once('close', () => clearTimeout(tooLate))
    secured.once('error', reject)
    secured.once('secureConnect', () => {
      clearTimeout(tooLate)
      secured.on('error', ignore)
      resolve(secured)
    })
  })
