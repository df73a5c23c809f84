import { createHash, createHmac } from 'node:crypto'

// The minio client signs no header but Host into a presigned PUT. Ours must sign If-None-Match, or who holds the address could leave it out
// and write over a file: hence AWS Signature Version 4, query form, by hand.

/** Where the bucket is and who may write to it. */
export interface StorageAccess {
  endpoint: string
  region: string
  bucket: string
  accessKey: string
  secretKey: string
}

/** One request to be signed. */
export interface PresignRequest {
  method: 'PUT' | 'GET' | 'HEAD'
  /** Empty: the bucket itself. */
  key: string
  /** Headers that the caller must send with exactly these values. */
  headers?: Record<string, string>
  /** What the store is to answer with: response-content-type and the like. */
  query?: Record<string, string>
  expiresSeconds: number
  now: Date
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
/** The longest life of such an address, in seconds. */
export const MAX_PRESIGNED_SECONDS = 604_800

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** RFC 3986: everything but letters, digits and -._~ is escaped, which encodeURIComponent does not do for !'()*. */
const escapeText = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

/** The address under which one object may be written or read, path style, until it expires (1 s to 7 days). */
export function presign(
  access: StorageAccess,
  { method, key, headers = {}, query: asked = {}, expiresSeconds, now }: PresignRequest,
): string {
  const endpoint = new URL(access.endpoint)
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${access.region}/s3/aws4_request`
  const signed = Object.entries({ ...headers, host: endpoint.host })
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.trim()])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const query = Object.entries({
    ...asked,
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${access.accessKey}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(Math.min(MAX_PRESIGNED_SECONDS, Math.max(1, Math.ceil(expiresSeconds)))),
    'X-Amz-SignedHeaders': names,
  })
    .map(([name, value]) => `${escapeText(name)}=${escapeText(value)}`)
    .sort()
    .join('&')
  const path = [access.bucket, ...(key === '' ? [] : key.split('/'))].map((part) => `/${escapeText(part)}`).join('')
  const lines = signed.map(([name, value]) => `${name}:${value}\n`).join('')
  const request = [method, path, query, lines, names, 'UNSIGNED-PAYLOAD'].join('\n')
  const signature = hmac(signingKey(access, time.slice(0, 8)), [ALGORITHM, time, scope, sha256(request)].join('\n')).toString('hex')
  return `${endpoint.origin}${path}?${query}&X-Amz-Signature=${signature}`
}

let lastKey: { of: string; key: Buffer } | undefined

/** The same all day for one store: the last one is kept. */
function signingKey({ secretKey, region }: StorageAccess, day: string): Buffer {
  const of = `${day} ${region} ${secretKey}`
  if (lastKey?.of !== of) lastKey = { of, key: hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), 's3'), 'aws4_request') }
  return lastKey.key
}
