import { createHash, createHmac } from 'node:crypto'
import type { StoreRoot } from './driver.ts'

interface ToSign {
  method: string
  url: URL
  body: Buffer
  now: Date
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** AWS Signature Version 4 in headers, for calls that the minio package does not provide. */
export function signHeaders({ region, accessKey, secretKey }: StoreRoot, { method, url, body, now }: ToSign): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const headers = { host: url.host, 'x-amz-content-sha256': sha256(body), 'x-amz-date': time }
  const names = Object.keys(headers).join(';')
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`)
  const canonical = [method, url.pathname, url.searchParams.toString(), lines.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, time.slice(0, 8)), region), 's3'), 'aws4_request')
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex')
  const { host: _, ...sent } = headers // the client sets it
  return { ...sent, authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}` }
}
