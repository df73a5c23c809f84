import type net from 'node:net'
import { Duplex } from 'node:stream'
import t from 'tap'
import { agree, readConnectRequest } from '../../../../capture-runner/src/egress/socks-server.ts'

/** A connection on which the browser has said something; `said` is what it was told. */
const aConnection = (...bytes: number[]) => {
  const said: number[] = []
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      said.push(...chunk)
      done()
    },
  })
  for (const byte of bytes) socket.push(Buffer.from([byte]))
  socket.push(null)
  return { socket: socket as unknown as net.Socket, said }
}

const named = (name: string): number[] => [3, name.length, ...Buffer.from(name)]
const targets = [
  { name: 'a name', address: named('example.com'), host: 'example.com' },
  { name: 'an address', address: [1, 10, 0, 0, 255], host: '10.0.0.255' },
  { name: 'an address written as a name', address: named('10.0.0.255'), host: '10.0.0.255' },
  { name: 'an address of six', address: [4, 0xfd, ...Array.from({ length: 14 }, () => 0), 1], host: '[fd00:0:0:0:0:0:0:1]' },
  { name: 'an address of six written as a name', address: named('fd00::1'), host: '[fd00::1]' },
  { name: 'the same in brackets', address: named('[fd00::1]'), host: '[fd00::1]' },
]
for (const { name, address, host } of targets) {
  t.test(`readConnectRequest hears ${name}, byte by byte, and leaves what follows`, async (t) => {
    const { socket, said } = aConnection(5, 2, 2, 0, 5, 1, 0, ...address, 1, 187, 71)
    t.strictSame(await readConnectRequest(socket), { host, port: 443 })
    t.strictSame(said, [5, 0])
    agree(socket)
    t.strictSame(said.slice(2), [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    t.strictSame(socket.read(), Buffer.from([71]))
  })
}

const others = [
  { name: 'another version', bytes: [4, 1, 0], message: /not SOCKS 5/ },
  { name: 'no way in without a password', bytes: [5, 1, 2], message: /insists on a password/ },
  { name: 'a wish to listen', bytes: [5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80], message: /something else/ },
  { name: 'an unknown kind of address', bytes: [5, 1, 0, 5, 1, 0, 2, 1, 1, 1, 1, 0, 80], message: /no kind of address/ },
  { name: 'half of a wish', bytes: [5, 1, 0, 5, 1, 0, 3, 9, 101], message: /broke off/ },
]
for (const { name, bytes, message } of others) {
  t.test(`readConnectRequest takes ${name} for no target`, async (t) => {
    await t.rejects(readConnectRequest(aConnection(...bytes).socket), { message })
  })
}
