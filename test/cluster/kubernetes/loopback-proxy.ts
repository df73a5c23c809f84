/**
 * A program that forwards connections from the host's loopback to addresses inside the network namespace. It runs in the namespace and inherits
 * the listening sockets as descriptors 3, 4, … A socket belongs to the namespace that created it, so no packet crosses between the two.
 */
import { connect, createServer, type Socket } from 'node:net'

for (const [index, target] of process.argv.slice(2).entries()) {
  const [host, port] = target.split(':')
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => forward(client, host!, Number(port)))
  server.listen({ fd: 3 + index })
}

function forward(client: Socket, host: string, port: number): void {
  const upstream = connect({ host, port, noDelay: true, allowHalfOpen: true })
  client.pipe(upstream).pipe(client)
  client.on('error', () => upstream.destroy())
  upstream.on('error', () => client.resetAndDestroy()) // if nothing listens there yet, the client must see a reset, not an empty response
  client.on('close', () => upstream.destroy())
}
