// The HTTP agent of all posts. It checks every connection before it dials: the host as the URL has it (Node.js does not call lookup for IP
// literals), the port, and each address that the name resolves to. It dials the addresses that were checked, so a DNS response that changes
// later has no effect. With a forward proxy, the proxy checks the addresses. Every connection counts the bytes that it reads below TLS and HTTP,
// so that no part of a handshake or a response can be endless.

import { constants } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect as connectTcp, isIPv6, type LookupFunction, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { createSecureContext } from 'node:tls'
import {
  type AddressDecision,
  classifyAddress,
  classifyHost,
  classifyPort,
  type EgressRules,
  isAllowedHost,
  toCanonicalHost,
  toPlainAddress,
} from '@tintype/crds/addresses/address-rules'
import { MAX_HEADER_BYTES, TooLongError } from '@tintype/crds/runtime/limited-read'
import { Agent, buildConnector } from 'undici'
import type { Resolve } from './network.ts'

/** The address rules forbid the target; nothing was sent. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'
}

/** The name of the target does not resolve. */
export class UnresolvedError extends Error {
  override readonly name = 'UnresolvedError'
}

/** CA certificates for receivers, PEM. A function returns the present ones: another list if they have changed. */
export type Certificates = readonly string[] | (() => readonly string[])

export interface GuardedAgentOptions {
  rules: EgressRules
  /** IP addresses of this pod, which are forbidden for webhooks. */
  ownAddresses: readonly string[]
  resolve: Resolve
  ca: Certificates
  /** Connections to one origin: the maximum of concurrent posts, so that none waits here while its time limit runs. */
  connections: number
  connectMilliseconds: number
  /** Forward proxy for all connections; absent: none. */
  proxy?: URL | undefined
}

const HTTPS_PORT = 443
/** What a handshake may have, and then each response: room for 16 KiB of headers, 16 KiB of the body in whole TLS records, and more. */
const MAX_RECEIVED: SocketLimits = { bytes: 64 * 1024, records: 256 }
/** Node's HTTP server closes idle connections after 5 s; connections are dropped earlier, so that no post fails on a closed one. */
const KEEP_ALIVE_MILLISECONDS = 4_000
const KEEP_ALIVE_MAX_MILLISECONDS = 60_000

/** The connection below each TLS socket of undici. */
const limitedSockets = new WeakMap<object, LimitedSocket>()
// Published before undici writes the headers of a request. Sockets of other agents are not in the map.
subscribe('undici:client:sendHeaders', (message) => limitedSockets.get((message as { socket: object }).socket)?.restart())

/** Builds the agent: keep-alive, TLS 1.2 or newer without renegotiation, HTTP/1.1, certificate and name are verified. */
export function buildGuardedAgent(options: GuardedAgentOptions): Agent {
  const connectorOf = tlsConnector(options)
  const connect = async (target: buildConnector.Options, callback: buildConnector.Callback) => {
    try {
      const connection = await dial(target, options)
      connectorOf()({ ...target, httpSocket: connection as Duplex as Socket }, (...result) => {
        if (result[1]) limitedSockets.set(result[1], connection)
        callback(...result)
      })
    } catch (error) {
      callback(error as Error, null)
    }
  }
  return new Agent({
    allowH2: false,
    connections: options.connections,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MILLISECONDS,
    connect: (target, callback) => void connect(target, callback),
  })
}

/** The connector for the present certificates. Parsing those of all public authorities takes 16 ms, so it is built again only if they have changed. */
function tlsConnector({ ca, connectMilliseconds }: GuardedAgentOptions): () => buildConnector.connector {
  const read = typeof ca === 'function' ? ca : () => ca
  const build = (certificates: readonly string[]) =>
    buildConnector({
      secureContext: createSecureContext({
        ca: [...certificates],
        minVersion: 'TLSv1.2',
        secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      }),
      allowH2: false,
      timeout: connectMilliseconds,
    })
  let last = read()
  let connector = build(last)
  return () => {
    const certificates = read()
    if (certificates !== last) connector = build(certificates)
    last = certificates
    return connector
  }
}

/** Checks a target and connects to it, without TLS. @throws BlockedAddressError, UnresolvedError, ProxyError */
async function dial(target: buildConnector.Options, options: GuardedAgentOptions): Promise<LimitedSocket> {
  const decision = evaluateTarget(target, options)
  if (!decision.allowed) throw new BlockedAddressError(decision.reason)
  const { proxy, connectMilliseconds } = options
  const address = { host: toPlainAddress(target.hostname) ?? target.hostname, port: Number(target.port || HTTPS_PORT) }
  const socket = await (proxy ? openTunnel(proxy, address, connectMilliseconds) : dialDirect(address, options))
  return new LimitedSocket(socket, MAX_RECEIVED)
}

async function dialDirect(target: TunnelTarget, options: GuardedAgentOptions): Promise<Socket> {
  const signal = AbortSignal.timeout(options.connectMilliseconds)
  const socket = connectTcp({ ...target, autoSelectFamily: true, noDelay: true, lookup: guardedLookup(options) })
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw signal.aborted ? signal.reason : error
  }
}

function evaluateTarget(
  { hostname, port, protocol }: buildConnector.Options,
  { rules, ownAddresses }: GuardedAgentOptions,
): AddressDecision {
  if (protocol !== 'https:') return { allowed: false, reason: 'the URL is not https' }
  const host = classifyHost(hostname, rules, { ownAddresses })
  return host.allowed ? classifyPort(Number(port || HTTPS_PORT), rules) : host
}

function guardedLookup({ rules, ownAddresses, resolve }: GuardedAgentOptions): LookupFunction {
  const findAddresses = async (hostname: string) => {
    const hostAllowed = isAllowedHost(toCanonicalHost(hostname) ?? hostname, rules)
    const addresses = await resolve(hostname).catch((cause: unknown) => {
      throw new UnresolvedError(`${hostname} does not resolve`, { cause })
    })
    for (const address of addresses) {
      const decision = classifyAddress(address, rules, { hostAllowed, ownAddresses })
      // One forbidden address forbids the name: legitimate names do not resolve to internal and external addresses at once.
      if (!decision.allowed) throw new BlockedAddressError(`${hostname}: ${decision.reason}`)
    }
    const checked = addresses.map((address) => toPlainAddress(address) as string)
    return checked.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  }
  return (hostname, { all }, callback) => {
    findAddresses(hostname).then(
      (found) => (all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
      (error: NodeJS.ErrnoException) => callback(error, all ? [] : ''),
    )
  }
}

/** What may arrive before the connection is destroyed. */
export interface SocketLimits {
  bytes: number
  /** TLS records. Each one makes Node.js allocate a buffer of many KiB, so that a few thousand of one byte occupy the garbage collector. */
  records: number
}

/** A TCP connection for TLS that reads a limited number of bytes and of records before it is destroyed with a {@link TooLongError}. */
export class LimitedSocket extends Duplex {
  readonly #socket: Socket
  readonly #limits: SocketLimits
  readonly #records = new RecordScanner()
  #left: SocketLimits
  #isTooLong = false

  constructor(socket: Socket, limits: SocketLimits) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    this.#limits = limits
    this.#left = { ...limits }
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  /** Allows as much again from now on. */
  restart(): void {
    this.#left = { ...this.#limits }
  }

  #receive(chunk: Buffer): void {
    const { bytes, records } = this.#left
    const { started, end } = this.#records.scan(chunk.subarray(0, bytes), records)
    const allowed = chunk.subarray(0, end)
    this.#isTooLong = end < chunk.length
    this.#left = { bytes: bytes - end, records: records - started }
    if (!this.push(allowed) || this.#isTooLong) this.#socket.pause()
    if (!this.#isTooLong) return
    const most = end < Math.min(bytes, chunk.length) ? `${this.#limits.records} TLS records` : `${this.#limits.bytes / 1024} KiB`
    // The reader handles the allowed bytes first: they may contain the whole response.
    setImmediate(() => this.destroy(new TooLongError(`the endpoint sent more than ${most}`)))
  }

  override _read(): void {
    if (!this.#isTooLong) this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

const RECORD_HEADER_BYTES = 5

/** Finds where TLS records start (RFC 8446, 5.1): a type, a version and the length of what follows, in plain text also when that is encrypted. */
class RecordScanner {
  #header = Buffer.alloc(RECORD_HEADER_BYTES)
  #headerLength = 0
  /** Bytes of the present record that have not arrived. */
  #rest = 0

  /** Reads on until more than `max` records would start. Returns how many started, and how many bytes belong to them. */
  scan(bytes: Buffer, max: number): { started: number; end: number } {
    let started = 0
    let end = 0
    while (end < bytes.length) {
      if (this.#rest > 0) {
        const skipped = Math.min(this.#rest, bytes.length - end)
        this.#rest -= skipped
        end += skipped
        continue
      }
      if (this.#headerLength === 0 && started++ === max) return { started: max, end }
      const copied = bytes.copy(this.#header, this.#headerLength, end)
      this.#headerLength += copied
      end += copied
      if (this.#headerLength < RECORD_HEADER_BYTES) break
      this.#headerLength = 0
      this.#rest = this.#header.readUInt16BE(3)
    }
    return { started, end }
  }
}

// Connects through a forward proxy by HTTP CONNECT, as Smokescreen and squid support it. The proxy resolves names, so it must check the addresses.
// TLS is end to end with the endpoint: the proxy does not see the contents.

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
