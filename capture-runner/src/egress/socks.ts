// Client side of SOCKS 5 (RFC 1928) with user and password (RFC 1929). After the handshake the socket is the tunnel. The proxy resolves
// names.

import net from 'node:net'
import type { Target } from './route.ts'

export const VERSION = 5
const NO_AUTHENTICATION = 0
const BY_PASSWORD = 2
const PASSWORD_VERSION = 1
export const CONNECT = 1
const BY_IPV4 = 1
const BY_NAME = 3
const BY_IPV6 = 4

const REFUSALS: Readonly<Record<number, string>> = {
  1: 'failed',
  2: 'does not allow the connection',
  3: 'reaches no such network',
  4: 'reaches no such host',
  5: 'was refused by the host',
  6: 'waited too long for the host',
  7: 'does not know the command',
  8: 'does not know the kind of address',
}

/** Host and port that the tunnel leads to. */
interface SocksTarget {
  host: string
  port: number
}

/** Opens a tunnel on a connected socket. @throws Error whose message continues a sentence that begins with the proxy */
export async function socks5Connect(
  socket: net.Socket,
  target: SocksTarget,
  credentials: { username: string; password: string } | undefined,
  timeoutMilliseconds: number,
): Promise<void> {
  const tooLate = setTimeout(() => socket.destroy(), timeoutMilliseconds)
  try {
    const methods = credentials ? [NO_AUTHENTICATION, BY_PASSWORD] : [NO_AUTHENTICATION]
    socket.write(Buffer.from([VERSION, methods.length, ...methods]))
    const [version, method] = await read(socket, 2)
    if (version !== VERSION) throw new Error('does not speak SOCKS 5')
    if (method === BY_PASSWORD && credentials) await signIn(socket, credentials)
    else if (method !== NO_AUTHENTICATION) throw new Error('asks for another user or password')
    await connect(socket, target)
  } finally {
    clearTimeout(tooLate)
  }
}

async function signIn(socket: net.Socket, { username, password }: { username: string; password: string }): Promise<void> {
  socket.write(Buffer.concat([Buffer.from([PASSWORD_VERSION]), withLength(username), withLength(password)]))
  const [, status] = await read(socket, 2)
  if (status !== 0) throw new Error('asks for another user or password')
}

async function connect(socket: net.Socket, { host, port }: SocksTarget): Promise<void> {
  socket.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), toAddress(host), Buffer.from([port >> 8, port & 255])]))
  const [, reply = 1, , kind] = await read(socket, 4)
  if (reply !== 0) throw new Error(REFUSALS[reply] ?? 'failed')
  const [length = 0] = kind === BY_NAME ? await read(socket, 1) : [kind === BY_IPV6 ? 16 : 4]
  await read(socket, length + 2)
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length > 255) throw new Error('takes no user or password of more than 255 bytes')
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

function toAddress(host: string): Buffer {
  if (net.isIPv4(host)) return Buffer.from([BY_IPV4, ...host.split('.').map(Number)])
  if (net.isIPv6(host)) return Buffer.concat([Buffer.from([BY_IPV6]), toBytes(host)])
  return Buffer.concat([Buffer.from([BY_NAME]), withLength(host)])
}

/** The sixteen bytes of an IPv6 address. */
function toBytes(address: string): Buffer {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')]
  const groups = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 255]))
}

/** Reads exactly `length` bytes and leaves the rest in the socket. @throws Error when the other side closes before */
export async function read(socket: net.Socket, length: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0)
  for (;;) {
    // Read everything: with bytes left in the buffer, a `readable` listener would fire again at once, in a loop.
    const more: Buffer | null = socket.read()
    bytes = more ? Buffer.concat([bytes, more]) : bytes
    if (bytes.length >= length) break
    if (socket.destroyed || socket.readableEnded) throw new Error('broke off')
    await whenChanged(socket)
  }
  if (bytes.length > length) socket.unshift(bytes.subarray(length))
  return bytes.subarray(0, length)
}

const CHANGES = ['readable', 'end', 'close'] as const

const whenChanged = (socket: net.Socket): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      for (const change of CHANGES) socket.off(change, done)
      resolve()
    }
    for (const change of CHANGES) socket.on(change, done)
  })

// Server side of SOCKS 5 (RFC 1928), as far as browsers use it: CONNECT to a name or an address. It needs no authentication, because each
// listener belongs to one capture.

/** Reads the target of a new connection. @throws Error for anything but a CONNECT request */
export async function readConnectRequest(client: net.Socket): Promise<Target> {
  const [version, count = 0] = await read(client, 2)
  if (version !== VERSION) throw new Error('the connection is not SOCKS 5')
  const methods = await read(client, count)
  if (!methods.includes(NO_AUTHENTICATION)) throw new Error('the browser requires password authentication')
  client.write(Buffer.from([VERSION, NO_AUTHENTICATION]))
  const [again, command, , kind] = await read(client, 4)
  if (again !== VERSION || command !== CONNECT) throw new Error('only the CONNECT command is supported')
  const host = await readHost(client, kind)
  const port = (await read(client, 2)).readUInt16BE()
  return { host, port }
}

/** Confirms the connection. The browser's next bytes are for its target. */
export const sendConnectReply = (client: net.Socket): void => {
  client.write(Buffer.from([VERSION, 0, 0, BY_IPV4, 0, 0, 0, 0, 0, 0]))
}

async function readHost(client: net.Socket, kind: number | undefined): Promise<string> {
  if (kind === BY_IPV4) return [...(await read(client, 4))].join('.')
  if (kind === BY_IPV6) return `[${toGroups(await read(client, 16)).join(':')}]`
  if (kind !== BY_NAME) throw new Error('unknown address type')
  const [length = 0] = await read(client, 1)
  const host = (await read(client, length)).toString('latin1')
  // Chromium may also send an address as a name.
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

const toGroups = (bytes: Buffer): string[] => Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16))
