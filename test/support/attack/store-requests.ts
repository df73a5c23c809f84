import { createHash, createHmac } from 'node:crypto'

// Requests to a store that the minio package does not send: AWS Signature Version 4 in headers with other payload types, and presigned URLs with more
// parameters.

export interface StoreKeys {
  endpoint: string
  accessKey: string
  secretKey: string
  region?: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const EMPTY = createHash('sha256').digest('hex')
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** A request with its signature, which signed chunks continue. */
export type SignedRequest = ReturnType<typeof signStoreRequest>

/** Signs one request. `payload` is the literal value of x-amz-content-sha256. `target` is a path and a query in canonical order. */
export function signStoreRequest(
  { endpoint, accessKey, secretKey, region = 'us-east-1' }: StoreKeys,
  method: string,
  target: string,
  payload: string,
  more: Record<string, string> = {},
) {
  const url = new URL(target, endpoint)
  const time = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const headers: Record<string, string> = { ...more, host: url.host, 'x-amz-content-sha256': payload, 'x-amz-date': time }
  const names = Object.keys(headers).sort()
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('')
  const canonical = [method, url.pathname, url.search.slice(1), lines, names.join(';'), payload].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, time.slice(0, 8)), region), 's3'), 'aws4_request')
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex')
  const { host: _, ...others } = headers // fetch sets it
  const authorization = `${ALGORITHM} Credential=${accessKey}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  const sent: Record<string, string> = { ...others, authorization }
  return { url: url.href, headers: sent, signature, time, scope, key }
}

/** An `aws-chunked` body with a signature for each chunk. */
export function signedChunks({ signature, time, scope, key }: SignedRequest, chunks: readonly Buffer[]): Buffer {
  let previous = signature
  const framed = [...chunks, Buffer.alloc(0)].map((chunk) => {
    const text = ['AWS4-HMAC-SHA256-PAYLOAD', time, scope, previous, EMPTY, sha256(chunk)].join('\n')
    previous = hmac(key, text).toString('hex')
    return Buffer.concat([Buffer.from(`${chunk.length.toString(16)};chunk-signature=${previous}\r\n`), chunk, Buffer.from('\r\n')])
  })
  return Buffer.concat(framed)
}

/** Parameters that the holder of a presigned URL adds. Each selects another operation or version, or other headers of the response. */
const PARAMETERS = [
  ...['tagging=', 'tagging', 'acl=', 'attributes=', 'torrent=', 'legal-hold=', 'retention=', 'policy=', 'other=x'],
  ...['uploads=', 'uploadId=x', 'partNumber=1', 'partNumber=1&uploadId=x', 'versionId=null', 'versionId=x'],
  ...['response-content-type=text%2Fhtml', 'response-content-disposition=inline'],
]
const TAGS = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>'

interface PresignedRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  url: string
  headers?: Record<string, string>
}

/** Sends the request once with each parameter. Returns the statuses other than 403, as text. */
export async function addParameters({ method, url, headers = {} }: PresignedRequest): Promise<string[]> {
  const others: string[] = []
  for (const parameter of PARAMETERS) {
    for (const body of method === 'PUT' ? ['picture', TAGS] : [null]) {
      const response = await fetch(`${url}&${parameter}`, { method, headers, body })
      const text = await response.text()
      if (response.status !== 403) others.push(`${method} ${parameter}: ${response.status} ${/<Code>(.*?)</.exec(text)?.[1] ?? ''}`)
    }
  }
  return others
}
