/**
 * Free TCP ports on loopback. They lie below those that the kernel gives to connections by itself, so that none is taken by chance between
 * the search and the use, or while a server is away for a moment.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const HOST = '127.0.0.1'
/** Above what the local cluster listens on, below NodePorts and the kernel's own. */
const [FIRST, COUNT] = [20_000, 10_000]

/**
 * Ports that nothing listens on now, and that no other process is given by this function as long as this one lives.
 * @throws when there are not so many
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const start = Math.floor(Math.random() * COUNT)
  const found: number[] = []
  for (let tried = 0; found.length < count; tried++) {
    if (tried === COUNT) throw new Error(`no ${count} free ports from ${FIRST} on`)
    const port = FIRST + ((start + tried) % COUNT)
    if ((await reserve(port)) && (await isFree(port))) found.push(port)
  }
  return found
}

/** Holds the UDP port of the same number until the process ends: who finds it taken looks elsewhere. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  try {
    socket.bind({ port, address: HOST, exclusive: true })
    await once(socket, 'listening')
    return true
  } catch {
    socket.close()
    return false
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, HOST)
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
