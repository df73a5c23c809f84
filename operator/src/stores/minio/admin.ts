import { argon2Sync, createCipheriv, createDecipheriv, pbkdf2Sync, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { callAdmin, type StoreRoot, type StoreUser } from '../driver.ts'

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
interface ListedUser {
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

// MinIO's admin API encrypts bodies with the caller's secret key: salt (32) | algorithm (1) | nonce (8) | stream. For requests this module
// uses PBKDF2 with AES-GCM, which Node has without a library and every server build accepts (madmin-go, encrypt.go). The stream format is
// that of sio-go: sealing an empty text gives the tag that is associated with every fragment; the last fragment is marked 0x80.

const ARGON2_AES_GCM = 0x00
const ARGON2_CHACHA20_POLY1305 = 0x01
const PBKDF2_AES_GCM = 0x02
/** Parameters of madmin-go: one pass over 64 MiB. */
const ARGON2 = { parallelism: 4, tagLength: 32, memory: 65_536, passes: 1 }
const PBKDF2_ROUNDS = 8_192
const KEY_BYTES = 32
const SALT_BYTES = 32
const NONCE_BYTES = 8
const TAG_BYTES = 16
const LAST_FRAGMENT = 0x80
/** Fragment size of sio-go. Every request fits into one fragment. */
const MAX_BYTES = 16_384

/** Encrypts the body of an admin call with the caller's secret key. */
export function encryptForMinio(secretKey: string, text: string): Buffer {
  const plain = Buffer.from(text)
  if (plain.length > MAX_BYTES) throw new RangeError(`at most ${MAX_BYTES} bytes can be sent to MinIO`)
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const key = pbkdf2Sync(secretKey, salt, PBKDF2_ROUNDS, KEY_BYTES, 'sha256')
  const binding = seal(key, fragmentNonce(nonce, 0), Buffer.alloc(0), Buffer.alloc(0))
  const fragment = seal(key, fragmentNonce(nonce, 1), plain, Buffer.concat([Buffer.of(LAST_FRAGMENT), binding]))
  return Buffer.concat([salt, Buffer.of(PBKDF2_AES_GCM), nonce, fragment])
}

/**
 * Decrypts the response to an admin call with the caller's secret key. The server chooses the algorithm by its processor.
 * @throws Error when MinIO did not encrypt it for this key
 */
function decryptFromMinio(secretKey: string, data: Buffer): string {
  const salt = data.subarray(0, SALT_BYTES)
  const algorithm = data[SALT_BYTES]
  const nonce = data.subarray(SALT_BYTES + 1, SALT_BYTES + 1 + NONCE_BYTES)
  const cipher: Cipher = algorithm === ARGON2_CHACHA20_POLY1305 ? 'chacha20-poly1305' : 'aes-256-gcm'
  const key = deriveKey(secretKey, salt, algorithm)
  const binding = seal(key, fragmentNonce(nonce, 0), Buffer.alloc(0), Buffer.alloc(0), cipher)
  const plain: Buffer[] = []
  let rest = data.subarray(SALT_BYTES + 1 + NONCE_BYTES)
  for (let sequence = 1; ; sequence++) {
    const fragment = rest.subarray(0, MAX_BYTES + TAG_BYTES)
    rest = rest.subarray(fragment.length)
    const mark = rest.length === 0 ? LAST_FRAGMENT : 0
    plain.push(unseal(key, fragmentNonce(nonce, sequence), fragment, Buffer.concat([Buffer.of(mark), binding]), cipher))
    if (rest.length === 0) return Buffer.concat(plain).toString()
  }
}

function deriveKey(secretKey: string, salt: Buffer, algorithm: number | undefined): Buffer {
  if (algorithm === PBKDF2_AES_GCM) return pbkdf2Sync(secretKey, salt, PBKDF2_ROUNDS, KEY_BYTES, 'sha256')
  if (algorithm !== ARGON2_AES_GCM && algorithm !== ARGON2_CHACHA20_POLY1305) throw new Error('MinIO used an unknown encryption algorithm')
  return argon2Sync('argon2id', { message: secretKey, nonce: salt, ...ARGON2 })
}

type Cipher = 'aes-256-gcm' | 'chacha20-poly1305'

function fragmentNonce(nonce: Buffer, sequence: number): Buffer {
  const counter = Buffer.alloc(4)
  counter.writeUInt32LE(sequence)
  return Buffer.concat([nonce, counter])
}

function seal(key: Buffer, nonce: Buffer, plain: Buffer, associated: Buffer, algorithm: Cipher = 'aes-256-gcm'): Buffer {
  const cipher = createCipheriv(algorithm as 'aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associated)
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function unseal(key: Buffer, nonce: Buffer, sealed: Buffer, associated: Buffer, algorithm: Cipher): Buffer {
  const decipher = createDecipheriv(algorithm as 'aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(associated)
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
}
