// The server's half of SOCKS 5 (RFC 1928), as far as browsers speak it: a name or an address to be connected to. Nobody is asked who they are: an
// listener is one capture's own.

import type net from 'node:net'
import type { Target } from './route.ts'
import { BY_IPV4, BY_IPV6, BY_NAME, CONNECT, NO_AUTHENTICATION, read, VERSION } from './socks.ts'

/** Hears where a new connection is to lead. @throws Error for anything else than the wish to be connected */
export async function readConnectRequest(client: net.Socket): Promise<Target> {
  const [version, count = 0] = await read(client, 2)
  if (version !== VERSION) throw new Error('this is not SOCKS 5')
  const methods = await read(client, count)
  if (!methods.includes(NO_AUTHENTICATION)) throw new Error('the browser insists on a password')
  client.write(Buffer.from([VERSION, NO_AUTHENTICATION]))
  const [again, command, , kind] = await read(client, 4)
  if (again !== VERSION || command !== CONNECT) throw new Error('the browser wants something else than a connection')
  const host = await readHost(client, kind)
  const port = (await read(client, 2)).readUInt16BE()
  return { host, port }
}

/** Tells the browser that what it sends from now on goes to its target. */
export const agree = (client: net.Socket): void => {
  client.write(Buffer.from([VERSION, 0, 0, BY_IPV4, 0, 0, 0, 0, 0, 0]))
}

async function readHost(client: net.Socket, kind: number | undefined): Promise<string> {
  if (kind === BY_IPV4) return [...(await read(client, 4))].join('.')
  if (kind === BY_IPV6) return `[${toGroups(await read(client, 16)).join(':')}]`
  if (kind !== BY_NAME) throw new Error('this is no kind of address')
  const [length = 0] = await read(client, 1)
  const host = (await read(client, length)).toString('latin1')
  // Chromium writes addresses as names, too.
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

const toGroups = (bytes: Buffer): string[] => Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16))
