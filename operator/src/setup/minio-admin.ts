import { createHash, createHmac } from 'node:crypto'
import { readAtMost, readBeginning } from '@tintype/crds/runtime/limited-read'
import { request } from 'undici'
import { z } from 'zod'
import { RetryableError, TerminalError } from '../controller-runtime/errors.ts'
import { decryptFromMinio, encryptForMinio } from './minio-encryption.ts'

// Admin API calls for users and policies, which the minio package does not provide. All calls are idempotent.

const TIMEOUT_MILLISECONDS = 10_000
/** Maximum number of bytes of an error response in the message. */
const MAX_REASON_BYTES = 500
/** Maximum size of a response: a list of a few users. */
const MAX_RESPONSE_BYTES = 1024 * 1024
const PREFIX = '/minio/admin/v3/'

/** The server and its root user. */
export interface MinioRoot {
  endpoint: string
  region: string
  accessKey: string
  secretKey: string
}

/** A user of the store. */
export interface MinioUser {
  accessKey: string
  secretKey: string
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Creates or updates a policy. */
export function putPolicy(root: MinioRoot, name: string, policy: object): Promise<void> {
  return call(root, 'add-canned-policy', { name }, Buffer.from(JSON.stringify(policy)))
}

/** Creates a user or changes its secret. */
export function putUser(root: MinioRoot, { accessKey, secretKey }: MinioUser): Promise<void> {
  const body = encryptForMinio(root.secretKey, JSON.stringify({ secretKey, status: 'enabled' }))
  return call(root, 'add-user', { accessKey }, body)
}

/** Attaches a policy to a user and replaces its previous ones. */
export function attachPolicy(root: MinioRoot, policyName: string, userOrGroup: string): Promise<void> {
  return call(root, 'set-user-or-group-policy', { policyName, userOrGroup, isGroup: 'false' })
}

/** Deletes a user. Succeeds if it does not exist. */
export function removeUser(root: MinioRoot, accessKey: string): Promise<void> {
  return call(root, 'remove-user', { accessKey }, undefined, 'DELETE')
}

/** Deletes a policy that is attached to no user. Succeeds if it does not exist. */
export function removePolicy(root: MinioRoot, name: string): Promise<void> {
  return call(root, 'remove-canned-policy', { name }, undefined, 'DELETE')
}

/** A user as the store lists it. */
export interface ListedUser {
  accessKey: string
  /** Empty: no policy. */
  policyName: string
}

const Users = z.record(z.string(), z.looseObject({ policyName: z.string().default('') }))

/** Lists all users except the root user. */
export async function listUsers(root: MinioRoot): Promise<ListedUser[]> {
  const { body } = await ask(root, 'list-users', {}, undefined, 'GET')
  const users = Users.parse(JSON.parse(decryptFromMinio(root.secretKey, body)))
  return Object.entries(users).map(([accessKey, { policyName }]) => ({ accessKey, policyName }))
}

type Method = 'GET' | 'PUT' | 'DELETE'

async function call(...request: Parameters<typeof ask>): Promise<void> {
  await ask(...request)
}

/** Sends a call and returns the response. @throws RetryableError, TerminalError */
async function ask(
  root: MinioRoot,
  operation: string,
  parameters: Record<string, string>,
  body: Buffer = Buffer.alloc(0),
  method: Method = 'PUT',
): Promise<{ body: Buffer }> {
  const url = new URL(PREFIX + operation, root.endpoint)
  for (const name of Object.keys(parameters).sort()) url.searchParams.set(name, parameters[name] ?? '')
  const headers = signHeaders(root, { method, url, body, now: new Date() })
  const response = await send(url, method, headers, body).catch((cause) => {
    throw new RetryableError(`MinIO at ${root.endpoint} does not respond`, { cause })
  })
  const { status } = response
  if (status >= 200 && status < 300) return response
  if (status === 404 && method === 'DELETE') return response
  const reason = response.body.toString()
  if (status >= 500) throw new RetryableError(`MinIO responded with ${status} to ${operation}: ${reason}`)
  throw new TerminalError('StorageRefused', `MinIO responded with ${status} to ${operation}: ${reason}`)
}

async function send(url: URL, method: Method, headers: Record<string, string>, body: Buffer): Promise<{ status: number; body: Buffer }> {
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS)
  const response = await request(url, { method, headers, ...(method === 'PUT' ? { body } : {}), signal })
  const status = response.statusCode
  if (status >= 200 && status < 300) return { status, body: await readAtMost(response.body, MAX_RESPONSE_BYTES) }
  return { status, body: await readBeginning(response.body, MAX_REASON_BYTES) }
}

interface ToSign {
  method: Method
  url: URL
  body: Buffer
  now: Date
}

/** AWS Signature Version 4 in headers. */
function signHeaders({ region, accessKey, secretKey }: MinioRoot, { method, url, body, now }: ToSign): Record<string, string> {
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
