// A forward proxy as a separate process. It connects every name to loopback, and prints each requested target on a line. It rejects names
// that start with `refused` as Smokescreen does: 407 with a reason. Argument: the required credentials, `user:password`, if any.

import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

const [credentials] = process.argv.slice(2)
const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`

const server = createServer((_, response) => void response.writeHead(400).end())
server.on('connect', ({ url = '', headers }, socket: Socket) => {
  console.log(url)
  socket.on('error', () => socket.destroy())
  const isRefused = url.startsWith('refused') || (wanted !== undefined && headers['proxy-authorization'] !== wanted)
  if (isRefused) return void socket.end('HTTP/1.1 407 Request Rejected by Proxy\r\nX-Smokescreen-Error: denied\r\n\r\n')
  const onward = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    socket.pipe(onward).pipe(socket)
  })
  onward.on('error', () => socket.destroy())
  socket.on('close', () => onward.destroy())
})
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`))
