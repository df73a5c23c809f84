import type net from 'node:net'
import { Duplex } from 'node:stream'
import t from 'tap'
import { readConnectRequest, sendConnectReply } from '../../../../capture-runner/src/egress/socks.ts'

/** A connection with bytes from the browser. `sent` collects the response. */
const aConnection = (...bytes: number[]) => {
  const sent: number[] = []
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      sent.push(...chunk)
      done()
    },
  })
  for (const byte of bytes) socket.push(Buffer.from([byte]))
  socket.push(null)
  return { socket: socket as unknown as net.Socket, sent }
}

const named = (name: string): number[] => [3, name.length, ...Buffer.from(name)]
const targets = [
  { name: 'a name', address: named('example.com'), host: 'example.com' },
  { name: 'an IPv4 address', address: [1, 10, 0, 0, 255], host: '10.0.0.255' },
  { name: 'an IPv4 address written as a name', address: named('10.0.0.255'), host: '10.0.0.255' },
  { name: 'an IPv6 address', address: [4, 0xfd, ...Array.from({ length: 14 }, () => 0), 1], host: '[fd00:0:0:0:0:0:0:1]' },
  { name: 'an IPv6 address written as a name', address: named('fd00::1'), host: '[fd00::1]' },
  { name: 'an IPv6 address in brackets', address: named('[fd00::1]'), host: '[fd00::1]' },
]
for (const { name, address, host } of targets) {
  t.test(`readConnectRequest reads ${name} byte by byte and leaves the following bytes in the socket`, async (t) => {
    const { socket, sent } = aConnection(5, 2, 2, 0, 5, 1, 0, ...address, 1, 187, 71)
    t.strictSame(await readConnectRequest(socket), { host, port: 443 })
    t.strictSame(sent, [5, 0])
    sendConnectReply(socket)
    t.strictSame(sent.slice(2), [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    t.strictSame(socket.read(), Buffer.from([71]))
  })
}

const others = [
  { name: 'another version', bytes: [4, 1, 0], message: /not SOCKS 5/ },
  { name: 'no method without a password', bytes: [5, 1, 2], message: /requires password authentication/ },
  { name: 'a BIND request', bytes: [5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80], message: /only the CONNECT command/ },
  { name: 'an unknown kind of address', bytes: [5, 1, 0, 5, 1, 0, 2, 1, 1, 1, 1, 0, 80], message: /unknown address type/ },
  { name: 'half of a request', bytes: [5, 1, 0, 5, 1, 0, 3, 9, 101], message: /broke off/ },
]
for (const { name, bytes, message } of others) {
  t.test(`readConnectRequest rejects ${name}`, async (t) => {
    await t.rejects(readConnectRequest(aConnection(...bytes).socket), { message })
  })
}
