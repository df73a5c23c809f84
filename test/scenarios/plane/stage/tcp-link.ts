import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A TCP link in which tests can inject faults. */
export type TcpLink = Awaited<ReturnType<typeof openLink>>

/** Opens a port on loopback that forwards to another port. */
export async function openLink(target: number) {
  const pairs = new Set<[Socket, Socket]>()
  let generation = 0
  let isCut = false
  let heldMilliseconds = 0
  const server: Server = createServer((near) => {
    const own = generation
    const far = connect(target, '127.0.0.1')
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    const isCarried = () => !isCut && own === generation
    for (const [from, to] of [pair, [far, near] as const]) {
      from.setNoDelay(true)
      let last: Promise<unknown> = Promise.resolve()
      from.on('data', (chunk: Buffer) => {
        if (!isCarried()) return
        if (heldMilliseconds === 0) {
          if (to.write(chunk)) return
          from.pause()
          to.once('drain', () => from.resume())
          return
        }
        const due = sleep(heldMilliseconds)
        last = Promise.all([last, due]).then(() => isCarried() && to.write(chunk))
      })
      from.on('error', () => from.destroy())
      from.on('close', () => {
        pairs.delete(pair)
        if (isCarried()) to.destroy()
      })
      from.on('end', () => void last.then(() => isCarried() && to.end()))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    port,
    /** Open connections stay open but carry no more data, as when a router has lost their state. New connections work. */
    forget: () => {
      generation++
    },
    /** Nothing passes in either direction until `heal`, on old and new connections. */
    cut: () => {
      isCut = true
      // Data in transit is dropped for good, because healed connections must not deliver streams with gaps.
      generation++
    },
    heal: () => {
      isCut = false
    },
    /** Delay of each chunk in milliseconds, per direction. */
    delay: (milliseconds: number) => {
      heldMilliseconds = milliseconds
    },
    close: async (): Promise<void> => {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
