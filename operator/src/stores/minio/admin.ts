import { readAtMost, readBeginning } from '@tintype/crds/runtime/limited-read'
import { request } from 'undici'
import { z } from 'zod'
import { RetryableError, TerminalError } from '../../controller-runtime/errors.ts'
import type { StoreRoot, StoreUser } from '../driver.ts'
import { signHeaders } from '../sign-headers.ts'
import { decryptFromMinio, encryptForMinio } from './encryption.ts'

// Admin API calls for users and policies, which the minio package does not provide. All calls are idempotent.

const TIMEOUT_MILLISECONDS = 10_000
/** Maximum number of bytes of an error response in the message. */
const MAX_REASON_BYTES = 500
/** Maximum size of a response: a list of a few users. */
const MAX_RESPONSE_BYTES = 1024 * 1024
const PREFIX = '/minio/admin/v3/'

/** Creates or updates a policy. */
export function putPolicy(root: StoreRoot, name: string, policy: object): Promise<void> {
  return call(root, 'add-canned-policy', { name }, Buffer.from(JSON.stringify(policy)))
}

/** Creates a user or changes its secret. */
export function putUser(root: StoreRoot, { accessKey, secretKey }: StoreUser): Promise<void> {
  const body = encryptForMinio(root.secretKey, JSON.stringify({ secretKey, status: 'enabled' }))
  return call(root, 'add-user', { accessKey }, body)
}

/** Attaches a policy to a user and replaces its previous ones. */
export function attachPolicy(root: StoreRoot, policyName: string, userOrGroup: string): Promise<void> {
  return call(root, 'set-user-or-group-policy', { policyName, userOrGroup, isGroup: 'false' })
}

/** Deletes a user. Succeeds if it does not exist. */
export function removeUser(root: StoreRoot, accessKey: string): Promise<void> {
  return call(root, 'remove-user', { accessKey }, undefined, 'DELETE')
}

/** Deletes a policy that is attached to no user. Succeeds if it does not exist. */
export function removePolicy(root: StoreRoot, name: string): Promise<void> {
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
export async function listUsers(root: StoreRoot): Promise<ListedUser[]> {
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
  root: StoreRoot,
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
