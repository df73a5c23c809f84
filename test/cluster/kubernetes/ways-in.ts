/**
 * A program: carries connections from listening sockets, opened on the host's loopback and inherited as descriptors 3, 4, …, to addresses
 * inside the network namespace that it runs in. A socket belongs to the namespace that it was made in, so no packet crosses between the two.
 */
import { connect, createServer, type Socket } from 'node:net'

for (const [index, target] of process.argv.slice(2).entries()) {
  const [host, port] = target.split(':')
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => carry(client, host!, Number(port)))
  server.listen({ fd: 3 + index })
}

function carry(client: Socket, host: string, port: number): void {
  const upstream = connect({ host, port, noDelay: true, allowHalfOpen: true })
  client.pipe(upstream).pipe(client)
  client.on('error', () => upstream.destroy())
  upstream.on('error', () => client.resetAndDestroy()) // nothing listens there yet: the client must see a refusal, not an empty answer
  client.on('close', () => upstream.destroy())
}
