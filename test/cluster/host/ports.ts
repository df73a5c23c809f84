/**
 * Finds free TCP ports on loopback. They are below the kernel's ephemeral ports, so that no connection takes one between the search and the use,
 * or while a server restarts.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const HOST = '127.0.0.1'
/** Above the ports of the local cluster, below NodePorts and the kernel's ephemeral ports. */
const [FIRST, COUNT] = [20_000, 10_000]

/**
 * Finds ports that nothing listens on. While this process lives, this function gives them to no other process.
 * @throws when there are not enough
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

/** Binds the UDP port of the same number until the process ends, so that other processes skip it. */
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
