import { z } from 'zod'
import { callAdmin } from '../admin-call.ts'
import type { StoreRoot, StoreUser } from '../driver.ts'
import { decryptFromMinio, encryptForMinio } from './encryption.ts'

// Admin API calls for users and policies. All calls are idempotent.

const PREFIX = '/minio/admin/v3/'

/** Creates or updates a policy. */
export async function putPolicy(root: StoreRoot, name: string, policy: object): Promise<void> {
  await call(root, 'add-canned-policy', { name }, Buffer.from(JSON.stringify(policy)))
}

/** Creates a user or changes its secret. */
export async function putUser(root: StoreRoot, { accessKey, secretKey }: StoreUser): Promise<void> {
  const body = encryptForMinio(root.secretKey, JSON.stringify({ secretKey, status: 'enabled' }))
  await call(root, 'add-user', { accessKey }, body)
}

/** Attaches a policy to a user and replaces its previous ones. */
export async function attachPolicy(root: StoreRoot, policyName: string, userOrGroup: string): Promise<void> {
  await call(root, 'set-user-or-group-policy', { policyName, userOrGroup, isGroup: 'false' })
}

/** Deletes a user. Succeeds if it does not exist. */
export async function removeUser(root: StoreRoot, accessKey: string): Promise<void> {
  await call(root, 'remove-user', { accessKey }, undefined, 'DELETE')
}

/** Deletes a policy that is attached to no user. Succeeds if it does not exist. */
export async function removePolicy(root: StoreRoot, name: string): Promise<void> {
  await call(root, 'remove-canned-policy', { name }, undefined, 'DELETE')
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
  const body = await call(root, 'list-users', {}, undefined, 'GET')
  const users = Users.parse(JSON.parse(decryptFromMinio(root.secretKey, body)))
  return Object.entries(users).map(([accessKey, { policyName }]) => ({ accessKey, policyName }))
}

/** Sends a call and returns the body of the response. What is to be deleted may be missing. @throws RetryableError, TerminalError */
async function call(
  root: StoreRoot,
  operation: string,
  parameters: Record<string, string>,
  body?: Buffer,
  method: 'GET' | 'PUT' | 'DELETE' = 'PUT',
): Promise<Buffer> {
  const expected = method === 'DELETE' ? [404] : []
  const more = body ? { body } : {}
  return (await callAdmin(root, { store: 'MinIO', method, prefix: PREFIX, operation, parameters, expected, ...more })).body
}
