import { createHash, createHmac } from 'node:crypto'
import type { KeyRing } from '@tintype/crds/download-link'

/** Names of an object in a fixed order, so that two spellings of one thing are the same. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, child]) => [name, canonical(child)]))
}

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

/** True when the hash is of this request; also when its key has left the ring since, because nobody can tell any more. */
export function isHashOf(hash: string, request: HashedRequest, { keys }: KeyRing): boolean {
  const [id = '', text] = hash.split('.')
  const secret = Object.hasOwn(keys, id) ? keys[id] : undefined
  return secret === undefined || digest(secret, request) === text
}

/** Where what is known of an Idempotency-Key lies in the bucket: not the key itself, which may say something about the client's business. */
export const idempotencyKey = (account: string, key: string): string =>
  `idempotency/${account}/${createHash('sha256').update(`${account}\n${key}`).digest('hex')}.json`
