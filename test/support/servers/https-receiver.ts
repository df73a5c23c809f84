// A webhook endpoint: Node's HTTPS server with a certificate of a test CA. It records requests byte by byte and responds as the test specifies.

import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type CertificatePaths, certificatePaths, createAuthority, createCertificate } from '../../cluster/kubernetes/pki.ts'

/** A received request. */
export interface ReceivedRequest {
  /** Epoch milliseconds. */
  at: number
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer
  /** Number of its connection, from 1. */
  connection: number
}

export type Answer = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>

/** Responds with a status and an optional body. */
export const answerWith =
  (status: number, body = '', headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, headers).end(body)
  }

export type HttpsReceiver = Awaited<ReturnType<typeof startHttpsReceiver>>

/** Creates a CA and a certificate for these names in `directory`. `ca` is the CA's certificate, PEM. */
export async function createReceiverCertificate(
  directory: string,
  names = ['IP:127.0.0.1', 'DNS:localhost'],
): Promise<CertificatePaths & { ca: string }> {
  await createAuthority(directory)
  const paths = await createCertificate(directory, 'receiver', { user: 'receiver', names })
  return { ...paths, ca: await readFile(certificatePaths(directory, 'ca').certificate, 'utf8') }
}

export interface ReceiverOptions {
  /** Directory of the certificates. The caller removes it. */
  directory: string
  /** Names of the certificate in openssl's format: `DNS:hooks.example.com`. */
  names?: string[]
  /** IP address to listen on, such as 127.0.0.2 for an operator whose own address is 127.0.0.1. */
  host?: string
}

/** Starts an endpoint on loopback. Its `answer` handles requests from now on. Default: 200. `ca` is the CA's certificate, PEM. */
export async function startHttpsReceiver({ directory, names, host = '127.0.0.1' }: ReceiverOptions) {
  const { ca, ...paths } = await createReceiverCertificate(directory, names)
  const [cert, key] = await Promise.all([readFile(paths.certificate), readFile(paths.key)])
  const sockets = new Map<Socket, number>()
  let connections = 0
  const receiver = { received: [] as ReceivedRequest[], answer: answerWith(200, 'thanks') }
  const server = createServer({ cert, key }, async (request, response) => {
    const received = await toReceived(request, sockets.get(request.socket) ?? 0)
    receiver.received.push(received)
    await receiver.answer(received, response)
  })
  server.on('secureConnection', (socket: Socket) => {
    sockets.set(socket, ++connections)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(receiver, {
    url: `https://${host}:${port}`,
    port,
    ca,
    /** Number of accepted connections. */
    connections: () => connections,
    /** Resolves when `count` requests were received. @throws after two minutes */
    whenReceived: (count: number, timeoutMilliseconds = 120_000) => whenReceived(receiver.received, count, timeoutMilliseconds),
    close: async () => {
      for (const socket of sockets.keys()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

async function toReceived(request: IncomingMessage, connection: number): Promise<ReceivedRequest> {
  const at = Date.now()
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  return { at, method: request.method ?? '', path: request.url ?? '', headers, body: await buffer(request), connection }
}

const POLL_MILLISECONDS = 20

async function whenReceived(received: ReceivedRequest[], count: number, timeoutMilliseconds: number): Promise<ReceivedRequest[]> {
  const end = Date.now() + timeoutMilliseconds
  while (received.length < count) {
    if (Date.now() > end) throw new Error(`${received.length} of ${count} requests received ${timeoutMilliseconds} ms`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS))
  }
  return received
}
