import { timingSafeEqual } from 'node:crypto'
import { isKeyText } from '@tintype/crds/key-text'
import type { ApiKey, Scope } from '@tintype/crds/kinds/api-key'
import { Label } from '@tintype/crds/names'
import { ApiError } from '../../errors.ts'

const REALM = 'Bearer realm="api"'

/** One text for unknown, revoked, inactive and expired keys: nobody learns which of them it is. */
export const invalidKey = (): ApiError =>
  new ApiError('INVALID_API_KEY', 'the API key is not valid', { headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } })

/**
 * The key's text out of an Authorization header. Garbage is refused by its checksum, without a look-up.
 * @throws ApiError 401
 */
export function parseBearer(authorization: string | undefined): string {
  const [, text] = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '') ?? []
  if (text === undefined) {
    const message =
      authorization === undefined ? 'the header Authorization is missing' : 'the header Authorization must be: Bearer <API_KEY>'
    throw new ApiError('UNAUTHORIZED', message, { headers: { 'www-authenticate': REALM } })
  }
  if (!isKeyText(text)) throw invalidKey()
  return text
}

const isSame = (known: string | undefined, hash: string): boolean =>
  known !== undefined && known.length === hash.length && timingSafeEqual(Buffer.from(known), Buffer.from(hash))

/** The hashes that an ApiKey answers to: two during a rotation. */
export const hashesOf = ({ metadata: { labels = {} } }: Pick<ApiKey, 'metadata'>): string[] =>
  [labels[Label.keyHash1], labels[Label.keyHash2]].filter((hash) => hash !== undefined)

const isBefore = (now: Date, instant: string | undefined): boolean => instant === undefined || now < new Date(instant)

/** True when the key answers to the hash, is active and has not expired; the text before a rotation has an end of its own. */
export function isUsable({ metadata: { labels = {} }, spec }: ApiKey, hash: string, now: Date): boolean {
  const { active = true, expiryTime, previous } = spec
  const isCurrent = isSame(labels[Label.keyHash1], hash)
  const isPrevious = isSame(labels[Label.keyHash2], hash) && isBefore(now, previous?.expiryTime)
  return (isCurrent || isPrevious) && active && isBefore(now, expiryTime)
}

/**
 * Of several keys that answer to one hash the oldest alone counts: who copies a hash into a key of his own, or has the operator read the
 * same text, must not get the requests of the other.
 */
export function findOldestKey(keys: readonly ApiKey[]): ApiKey | undefined {
  const order = ({ metadata: { creationTimestamp, name } }: ApiKey) => `${creationTimestamp}/${name}`
  return keys.reduce<ApiKey | undefined>((oldest, key) => (oldest && order(oldest) <= order(key) ? oldest : key), undefined)
}

/** A key without scopes may do everything; one with an empty list may do nothing. @throws ApiError 403 */
export function assertScope({ spec: { scopes = ['*'] } }: ApiKey, scope: Scope): void {
  if (scopes.includes('*') || scopes.includes(scope)) return
  const challenge = `${REALM}, error="insufficient_scope", scope="${scope}"`
  throw new ApiError('INSUFFICIENT_SCOPE', `the API key lacks the scope ${scope}`, { headers: { 'www-authenticate': challenge } })
}
