import { createHash, createHmac } from 'node:crypto'
import { isAddressLiteral } from '../addresses/address-rules.ts'

// Presigned URLs with AWS Signature Version 4. The minio client signs only the header Host of a presigned PUT. Tintype must sign If-None-Match
// too, because otherwise the holder of the URL could omit it and overwrite a file.

/** Location and credentials of the bucket. */
export interface StorageAccess {
  endpoint: string
  region: string
  bucket: string
  accessKey: string
  secretKey: string
  /** False: the bucket is in the host name. Default: true, the bucket is in the path. */
  pathStyle?: boolean | undefined
}

/** Path style or virtual-host style, see {@link StorageAccess}. */
type BucketAddress = Pick<StorageAccess, 'endpoint' | 'bucket' | 'pathStyle'>

/**
 * Whether the bucket is part of the host name. An IP address has no subdomains. A wildcard certificate covers one label only, so a bucket with a dot stays
 * in the path with https, as in the minio client.
 */
function isBucketInHost({ endpoint, bucket, pathStyle = true }: BucketAddress): boolean {
  if (pathStyle) return false
  const { protocol, hostname } = new URL(endpoint)
  return !isAddressLiteral(hostname.replace(/^\[(.*)\]$/, '$1')) && !(protocol === 'https:' && bucket.includes('.'))
}

/** The URL of the bucket without a slash at the end: `https://host/bucket`, or `https://bucket.host` in virtual-host style. */
export function bucketUrl(access: BucketAddress): string {
  const { protocol, host, origin } = new URL(access.endpoint)
  return isBucketInHost(access) ? `${protocol}//${access.bucket}.${host}` : `${origin}/${escapeText(access.bucket)}`
}

/** One request to sign. */
export interface PresignRequest {
  method: 'PUT' | 'GET' | 'HEAD'
  /** Empty: the bucket itself. */
  key: string
  /** Headers that the caller must send with exactly these values. */
  headers?: Record<string, string>
  /** Query parameters for the response, such as response-content-type. */
  query?: Record<string, string>
  expiresSeconds: number
  now: Date
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
/** Maximum lifetime of a presigned URL, in seconds. */
export const MAX_PRESIGNED_SECONDS = 604_800

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Escapes everything except letters, digits and -._~ (RFC 3986). encodeURIComponent does not escape !'()*. */
const escapeText = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

/** Creates a URL for one request to one object. It expires after 1 second to 7 days. */
export function presign(
  access: StorageAccess,
  { method, key, headers = {}, query: asked = {}, expiresSeconds, now }: PresignRequest,
): string {
  const bucket = new URL(bucketUrl(access))
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${access.region}/s3/aws4_request`
  const signed = Object.entries({ ...headers, host: bucket.host })
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
  const keyPath = key === '' ? '' : `/${key.split('/').map(escapeText).join('/')}`
  const path = `${bucket.pathname.replace(/\/$/, '')}${keyPath}` || '/'
  const lines = signed.map(([name, value]) => `${name}:${value}\n`).join('')
  const request = [method, path, query, lines, names, 'UNSIGNED-PAYLOAD'].join('\n')
  const signature = hmac(signingKeyOf(access, time.slice(0, 8)), [ALGORITHM, time, scope, sha256(request)].join('\n')).toString('hex')
  return `${bucket.origin}${path}?${query}&X-Amz-Signature=${signature}`
}

let lastKey: { of: string; key: Buffer } | undefined

/** Derives the signing key of a day. Caches the last one, because it stays the same for a day. */
export function signingKeyOf({ secretKey, region }: Pick<StorageAccess, 'secretKey' | 'region'>, day: string): Buffer {
  const of = `${day} ${region} ${secretKey}`
  if (lastKey?.of !== of) lastKey = { of, key: hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), 's3'), 'aws4_request') }
  return lastKey.key
}
