// Runs briefly inside the jail. It listens on a few loopback ports and passes the sockets to the runner outside, which accepts connections on
// them. So the browser connects to sockets of the runner, and no process has to copy bytes between them.
import { once } from 'node:events'
import net from 'node:net'

for (let i = 0; i < Number(process.argv[2]); i++) {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.send({ port: server.address().port }, server)
}
await once(process, 'message')
process.exit()
