/**
 * Posts a body over HTTP/2 and prints status and body of the response. The response to a large body arrives before the body is sent, followed by
 * RST_STREAM with NO_ERROR (RFC 9113, 8.1). curl before version 8 drops such a response, so this program uses the client of Node.js.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'

/** Read as JSON from standard input. */
export interface H2Request {
  /** Address and port of the server. */
  target: string
  host: string
  path: string
  /** Path of the certificate authority. */
  authority: string
  headers: Record<string, string>
  body: string
}

const { target, host, path, authority, headers, body } = JSON.parse(readFileSync(0, 'utf8')) as H2Request
const session = connect(`https://${target}`, { ca: readFileSync(authority), servername: host })
const own = { ':method': 'POST', ':path': path, ':authority': host, 'content-length': String(Buffer.byteLength(body)) }
const stream = session.request({ ...own, ...headers })
const response = new Promise<number>((resolve, reject) => {
  stream.once('response', (received) => resolve(Number(received[':status'])))
  stream.once('error', reject)
})
stream.end(body)
console.log(JSON.stringify({ status: await response, body: await text(stream) }))
session.destroy()
