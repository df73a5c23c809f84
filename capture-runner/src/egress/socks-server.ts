// Server side of SOCKS 5 (RFC 1928), as far as browsers use it: CONNECT to a name or an address. It needs no authentication, because each
// listener belongs to one capture.

import type net from 'node:net'
import type { Target } from './route.ts'
import { BY_IPV4, BY_IPV6, BY_NAME, CONNECT, NO_AUTHENTICATION, read, VERSION } from './socks.ts'

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
