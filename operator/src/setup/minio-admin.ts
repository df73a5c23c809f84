import { createHash, createHmac } from 'node:crypto'
import { RetryableError, TerminalError } from '../controller/errors.ts'
import { encryptForMinio } from './minio-encryption.ts'

// The three administrative calls that the chart needs (users and their policies), which the minio package does not have. Each may be repeated.

const TIMEOUT_MILLISECONDS = 10_000
const PREFIX = '/minio/admin/v3/'

/** The server and its root user. */
export interface MinioRoot {
  endpoint: string
  region: string
  accessKey: string
  secretKey: string
}

/** One user of the store. */
export interface MinioUser {
  accessKey: string
  secretKey: string
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Makes or changes a policy. */
export function putPolicy(root: MinioRoot, name: string, policy: object): Promise<void> {
  return call(root, 'add-canned-policy', { name }, Buffer.from(JSON.stringify(policy)))
}

/** Makes a user or changes its secret. */
export function putUser(root: MinioRoot, { accessKey, secretKey }: MinioUser): Promise<void> {
  const body = encryptForMinio(root.secretKey, JSON.stringify({ secretKey, status: 'enabled' }))
  return call(root, 'add-user', { accessKey }, body)
}

/** Gives a user one policy in place of those it had. */
export function attachPolicy(root: MinioRoot, policyName: string, userOrGroup: string): Promise<void> {
  return call(root, 'set-user-or-group-policy', { policyName, userOrGroup, isGroup: 'false' }, Buffer.alloc(0))
}

async function call(root: MinioRoot, operation: string, parameters: Record<string, string>, body: Buffer): Promise<void> {
  const url = new URL(PREFIX + operation, root.endpoint)
  for (const name of Object.keys(parameters).sort()) url.searchParams.set(name, parameters[name] ?? '')
  const headers = signHeaders(root, url, body, new Date())
  const answer = await fetch(url, { method: 'PUT', headers, body, signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) }).catch((cause) => {
    throw new RetryableError(`MinIO at ${root.endpoint} does not answer`, { cause })
  })
  if (answer.ok) return
  const text = (await answer.text()).slice(0, 500)
  if (answer.status >= 500) throw new RetryableError(`MinIO answered ${answer.status} to ${operation}: ${text}`)
  throw new TerminalError('StorageRefused', `MinIO answered ${answer.status} to ${operation}: ${text}`)
}

/** AWS Signature Version 4 in headers. */
function signHeaders({ region, accessKey, secretKey }: MinioRoot, url: URL, body: Buffer, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const headers = { host: url.host, 'x-amz-content-sha256': sha256(body), 'x-amz-date': time }
  const names = Object.keys(headers).join(';')
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`)
  const request = ['PUT', url.pathname, url.searchParams.toString(), lines.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, time.slice(0, 8)), region), 's3'), 'aws4_request')
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n')).toString('hex')
  const { host: _, ...sent } = headers // fetch sets it
  return { ...sent, authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}` }
}
