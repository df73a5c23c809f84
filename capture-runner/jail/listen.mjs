// Runs inside the jail for a moment: listens on a few ports of its loopback and hands the listening sockets to the runner, which stays
// outside and accepts on them. So the browser's way out is a socket of the runner's, and nothing has to carry bytes across.
import { once } from 'node:events'
import net from 'node:net'

for (let i = 0; i < Number(process.argv[2]); i++) {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.send({ port: server.address().port }, server)
}
await once(process, 'message')
process.exit()
