/**
 * Serves the site of the benchmark over HTTP/1.1 and HTTP/2, near and far, in a separate process. Prints its ports in one line, and exits
 * when its input closes.
 */
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createReceiverCertificate } from '../../support/servers/https-receiver.ts'
import { openFarLink } from './far-link.ts'
import { buildSite } from './site.ts'

/** Ports of the site, by protocol and distance. */
export interface SitePorts {
  plain: { near: number; far: number }
  secure: { near: number; far: number }
  /** Hash of the certificate's key, in the form of the browser flag that trusts it. */
  keyHash: string
}

const roundTrip = Number(process.env.BENCH_ROUND_TRIP)
const site = await buildSite()

const answer = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void => {
  const resource = site.get(request.url ?? '')
  const cacheControl = resource?.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'
  const headers = {
    'content-type': resource?.type ?? 'text/plain',
    'cache-control': cacheControl,
    'content-length': resource?.body.length ?? 0,
  }
  response.statusCode = resource ? 200 : 404
  for (const [name, value] of Object.entries(headers))
    response.setHeader(name, value)
    // Both kinds of responses accept a buffer, but their union type does not.
  ;(response as ServerResponse).end(resource?.body)
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const directory = await mkdtemp(path.join(tmpdir(), 'tintype-bench-'))
const certificate = await createReceiverCertificate(directory)
const pair = { key: await readFile(certificate.key), cert: await readFile(certificate.certificate) }
await rm(directory, { recursive: true })
const publicKey = new X509Certificate(pair.cert).publicKey.export({ type: 'spki', format: 'der' })
const near = { plain: await portOf(createServer(answer)), secure: await portOf(createSecureServer(pair, answer)) }
const far = { plain: await openFarLink(near.plain, roundTrip), secure: await openFarLink(near.secure, roundTrip) }
const ports: SitePorts = {
  plain: { near: near.plain, far: far.plain.port },
  secure: { near: near.secure, far: far.secure.port },
  keyHash: createHash('sha256').update(publicKey).digest('base64'),
}
process.stdout.write(`${JSON.stringify(ports)}\n`)
process.stdin.resume().once('end', () => process.exit(0))
