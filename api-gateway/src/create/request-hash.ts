import { createHash, createHmac } from 'node:crypto'
import type { KeyRing } from '@tintype/crds/download-link'
import { toBase32 } from '@tintype/crds/key-text'
import { canonical } from '../translate/common/canonical-json.ts'

/** What identifies a request: who asks for what. */
export interface HashedRequest {
  account: string
  /** Method and path. */
  route: string
  body: unknown
}

const digest = (secret: string, { account, route, body }: HashedRequest): string =>
  createHmac('sha256', Buffer.from(secret, 'base64'))
    .update([account, route, JSON.stringify(canonical(body))].join('\n'))
    .digest('base64url')

/**
 * A request as a text that tells nothing of it, whatever the order of its names. Keyed by the release's secret: a body may hold passwords, and
 * whoever reads the bucket must not be able to try weak ones.
 */
export function requestHash(request: HashedRequest, { current, keys }: KeyRing): string {
  const secret = keys[current]
  if (secret === undefined) throw new Error(`the key ring has no key ${current}`)
  return `${current}.${digest(secret, request)}`
}

/** True when the hash is of this request, by any key of the ring. */
export function isHashOf(hash: string, request: HashedRequest, { keys }: KeyRing): boolean {
  const [id = '', text] = hash.split('.')
  const secret = Object.hasOwn(keys, id) ? keys[id] : undefined
  return secret !== undefined && digest(secret, request) === text
}

const keyed = (secret: string, text: string): Buffer => createHmac('sha256', Buffer.from(secret, 'base64')).update(text).digest()

/**
 * Where what is known of an Idempotency-Key lies in the bucket: by the current key of the ring, then by the others, so that a rotation forgets
 * nothing. Names are HMACs: whoever reads the bucket must not be able to try keys, which may say something about the client's business.
 */
export function idempotencyObjectKeys(account: string, key: string, { current, keys }: KeyRing): string[] {
  const secrets = [current, ...Object.keys(keys).filter((id) => id !== current)].map((id) => keys[id] ?? '')
  if (secrets[0] === '') throw new Error(`the key ring has no key ${current}`)
  return secrets.map((secret) => `idempotency/${account}/${toBase32(keyed(secret, `idempotency name\n${account}\n${key}`))}.json`)
}

/** Where earlier versions wrote it. Can go with the release after the next: nothing is remembered for longer than a day. */
export const legacyIdempotencyObjectKey = (account: string, key: string): string =>
  `idempotency/${account}/${createHash('sha256').update(`${account}\n${key}`).digest('hex')}.json`

const LEGACY_OBJECT_KEY = /\/[0-9a-f]{64}\.json$/

/** True for what {@link legacyIdempotencyObjectKey} gave; names of today have 52 letters. */
export const isLegacyObjectKey = (objectKey: string): boolean => LEGACY_OBJECT_KEY.test(objectKey)

/** Shows that a gateway of this release wrote an entry at this place: whoever can only write into the bucket cannot make one. */
export function signEntry(objectKey: string, entry: unknown, { current, keys }: KeyRing): string {
  const secret = keys[current]
  if (secret === undefined) throw new Error(`the key ring has no key ${current}`)
  return `${current}.${entryDigest(secret, objectKey, entry)}`
}

/** True for the signature that {@link signEntry} made, by any key of the ring. */
export function isEntrySigned(objectKey: string, entry: unknown, signature: string, { keys }: KeyRing): boolean {
  const [id = '', text] = signature.split('.')
  const secret = Object.hasOwn(keys, id) ? keys[id] : undefined
  return secret !== undefined && entryDigest(secret, objectKey, entry) === text
}

const entryDigest = (secret: string, objectKey: string, entry: unknown): string =>
  keyed(secret, `idempotency entry\n${objectKey}\n${JSON.stringify(canonical(entry))}`).toString('base64url')
