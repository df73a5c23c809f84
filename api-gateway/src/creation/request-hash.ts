import { createHmac } from 'node:crypto'
import { currentSecret, isSignedWith, type KeyRing, secretOf, signWith } from '@tintype/crds/crypto/key-ring'
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

const keyed = (secret: Buffer, text: string): Buffer => createHmac('sha256', secret).update(text).digest()

const macOf =
  ({ account, route, body }: HashedRequest) =>
  (secret: Buffer) =>
    keyed(secret, `${account}\n${route}\n${JSON.stringify(canonical(body))}`)

/**
 * HMAC of a request, independent of the order of its fields. It is keyed because bodies may contain passwords: someone with read access to the
 * bucket must not be able to guess them.
 */
export const requestHash = (request: HashedRequest, ring: KeyRing): string => signWith(ring, macOf(request))

/** True when the hash is of this request, with any key of the ring. */
export const isHashOf = (hash: string, request: HashedRequest, ring: KeyRing): boolean => isSignedWith(ring, hash, macOf(request))

/**
 * Object keys for an Idempotency-Key: with the current key of the ring first, then with the others, so that entries survive a rotation. The names
 * are HMACs, because Idempotency-Keys may reveal something about the client and must not be guessable from the bucket.
 */
export function idempotencyObjectKeys(account: string, key: string, ring: KeyRing): string[] {
  const others = Object.keys(ring.keys).filter((id) => id !== ring.current)
  const secrets = [currentSecret(ring), ...others.flatMap((id) => secretOf(ring, id) ?? [])]
  return secrets.map((secret) => idempotencyKey(account, toBase32(keyed(secret, `idempotency name\n${account}\n${key}`))))
}

const macOfEntry = (objectKey: string, entry: unknown) => (secret: Buffer) =>
  keyed(secret, `idempotency entry\n${objectKey}\n${JSON.stringify(canonical(entry))}`)

/** Signs an entry for its object key. Someone who can only write to the bucket cannot forge one. */
export const signEntry = (objectKey: string, entry: unknown, ring: KeyRing): string => signWith(ring, macOfEntry(objectKey, entry))

/** True for a signature from {@link signEntry}, with any key of the ring. */
export const isEntrySigned = (objectKey: string, entry: unknown, signature: string, ring: KeyRing): boolean =>
  isSignedWith(ring, signature, macOfEntry(objectKey, entry))
