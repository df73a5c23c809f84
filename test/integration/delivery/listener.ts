import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Test } from 'tap'

/** Listens on all addresses and records at which of them a connection arrived. It closes connections without a response. */
export async function startListener(t: Test): Promise<{ port: number; arrivals: string[] }> {
  const arrivals: string[] = []
  const server = createServer((socket) => {
    arrivals.push((socket.localAddress ?? '').replace(/^::ffff:(?=.*\.)/, ''))
    socket.destroy()
  })
  server.listen(0, '::')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return { port: (server.address() as AddressInfo).port, arrivals }
}
