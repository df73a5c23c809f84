import { createHmac } from 'node:crypto'
import type { KeyRing } from '@tintype/crds/crypto/download-link'
import { toBase32 } from '@tintype/crds/crypto/key-text'
import { idempotencyKey } from '@tintype/crds/records/storage-keys'
import { canonical } from '@tintype/crds/text/canonical-json'

/** The parts of a request that identify it. */
export interface HashedRequest {
  account: string
  /** Method and path. */
  route: string
  body: unknown
}

const digest = (secret: string, { account, route, body }: HashedRequest): string =>
  createHmac('sha256', Buffer.from(secret, 'base64'))
    .update(`${account}\n${route}\n`)
    .update(JSON.stringify(canonical(body)))
    .digest('base64url')

/**
 * HMAC of a request, independent of the order of its fields. It is keyed because bodies may contain passwords: someone with read access to the
 * bucket must not be able to guess them.
 */
export function requestHash(request: HashedRequest, { current, keys }: KeyRing): string {
  const secret = keys[current]
  if (secret === undefined) throw new Error(`the key ring has no key ${current}`)
  return `${current}.${digest(secret, request)}`
}

/** True when the hash is of this request, with any key of the ring. */
export function isHashOf(hash: string, request: HashedRequest, { keys }: KeyRing): boolean {
  const [id = '', text] = hash.split('.')
  const secret = Object.hasOwn(keys, id) ? keys[id] : undefined
  return secret !== undefined && digest(secret, request) === text
}

const keyed = (secret: string, text: string): Buffer => createHmac('sha256', Buffer.from(secret, 'base64')).update(text).digest()

/**
 * Object keys for an Idempotency-Key: with the current key of the ring first, then with the others, so that entries survive a rotation. The names
 * are HMACs, because Idempotency-Keys may reveal something about the client and must not be guessable from the bucket.
 */
export function idempotencyObjectKeys(account: string, key: string, { current, keys }: KeyRing): string[] {
  const secrets = [current, ...Object.keys(keys).filter((id) => id !== current)].map((id) => keys[id] ?? '')
  if (secrets[0] === '') throw new Error(`the key ring has no key ${current}`)
  return secrets.map((secret) => idempotencyKey(account, toBase32(keyed(secret, `idempotency name\n${account}\n${key}`))))
}

/** Signs an entry for its object key. Someone who can only write to the bucket cannot forge one. */
export function signEntry(objectKey: string, entry: unknown, { current, keys }: KeyRing): string {
  const secret = keys[current]
  if (secret === undefined) throw new Error(`the key ring has no key ${current}`)
  return `${current}.${entryDigest(secret, objectKey, entry)}`
}

/** True for a signature from {@link signEntry}, with any key of the ring. */
export function isEntrySigned(objectKey: string, entry: unknown, signature: string, { keys }: KeyRing): boolean {
  const [id = '', text] = signature.split('.')
  const secret = Object.hasOwn(keys, id) ? keys[id] : undefined
  return secret !== undefined && entryDigest(secret, objectKey, entry) === text
}

const entryDigest = (secret: string, objectKey: string, entry: unknown): string =>
  keyed(secret, `idempotency entry\n${objectKey}\n${JSON.stringify(canonical(entry))}`).toString('base64url')
