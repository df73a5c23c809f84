import { connect, createServer, type Socket } from 'node:net'
import { findFreePorts } from '../../cluster/host/ports.ts'

/** What happens to a response: `drop` resets the connection instead of sending it, `half` resets it after half of the first chunk. */
export type Cut = 'drop' | 'half' | 'pass'

/** A TCP proxy that cuts connections after the server has responded, so that the client cannot know whether its request took effect. */
export async function startCuttingProxy(
  target: number,
): Promise<{ url: string; cuts: Cut[]; count: () => number; stop: () => Promise<void> }> {
  const [port] = await findFreePorts(1)
  const cuts: Cut[] = []
  const sockets = new Set<Socket>()
  let done = 0
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      const cut = cuts.shift() ?? 'pass'
      if (cut === 'pass') return void client.write(chunk)
      done += 1
      if (cut === 'drop') return void client.resetAndDestroy()
      client.write(chunk.subarray(0, chunk.length / 2), () => client.resetAndDestroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}`, cuts, count: () => done, stop }
}
