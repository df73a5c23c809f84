import { timingSafeEqual } from 'node:crypto'
import { isKeyText, keyHash } from '@tintype/crds/crypto/api-keys'
import { Label } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import { type ApiKey, hasScope, type Scope } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { ApiError } from '../../common/errors.ts'
import type { KeyStore } from '../../store/ports.ts'

const REALM = 'Bearer realm="api"'

/** The same error for unknown, revoked, inactive and expired keys, so that clients cannot distinguish them. */
export const invalidKey = (): ApiError =>
  new ApiError('INVALID_API_KEY', 'the API key is not valid', { headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } })

/**
 * The key from an Authorization header. Malformed keys fail their checksum and need no lookup.
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

/** Kubernetes counts the changes of the spec. */
export const generationOf = ({ metadata }: Pick<ApiKey, 'metadata'>): number => metadata.generation ?? 0

const isBefore = (now: Date, instant: string | undefined): boolean => instant === undefined || now < new Date(instant)

/** True when the key is active, has not expired, and was not deleted. */
export const isActive = ({ metadata, spec: { active = true, expiryTime } }: ApiKey, now: Date): boolean =>
  active && isBefore(now, expiryTime) && !isBeingDeleted({ metadata })

/** True when the key has the hash and {@link isActive}. The previous key of a rotation has its own expiry. */
export function isUsable(key: ApiKey, hash: string, now: Date): boolean {
  const { labels = {} } = key.metadata
  const { previous } = key.spec
  const isCurrent = isSame(labels[Label.keyHash1], hash)
  const isPrevious = isSame(labels[Label.keyHash2], hash) && isBefore(now, previous?.expiryTime)
  return (isCurrent || isPrevious) && isActive(key, now)
}

/**
 * The oldest of several keys with the same hash. Someone who copies a hash into another key must not receive the requests of the original. A
 * deleted key leaves its text to the next one.
 */
export function findOldestKey(keys: readonly ApiKey[]): ApiKey | undefined {
  const order = ({ metadata: { creationTimestamp, name } }: ApiKey) => `${creationTimestamp}/${name}`
  return keys
    .filter((key) => !isBeingDeleted(key))
    .reduce<ApiKey | undefined>((oldest, key) => (oldest && order(oldest) <= order(key) ? oldest : key), undefined)
}

/** The valid key of an Authorization header. @throws ApiError 401 */
export async function findUsableKey(
  authorization: string | undefined,
  { keys, now }: { keys: Pick<KeyStore, 'findByHash'>; now: () => Date },
): Promise<{ apiKey: ApiKey; hash: string }> {
  const hash = keyHash(parseBearer(authorization))
  const apiKey = findOldestKey(await keys.findByHash(hash))
  if (!apiKey || !isUsable(apiKey, hash, now())) throw invalidKey()
  return { apiKey, hash }
}

/** The account of a key, unless it was deleted. */
export async function findAccountOf(apiKey: ApiKey, keys: Pick<KeyStore, 'findAccount'>): Promise<Account | undefined> {
  const account = await keys.findAccount(accountOf(apiKey))
  return account && !isBeingDeleted(account) ? account : undefined
}

/**
 * The account that a valid key acts for. A key without scopes has all of its account, and a key with an empty list has none.
 * @throws ApiError INVALID_API_KEY, ACCOUNT_SUSPENDED, INSUFFICIENT_SCOPE
 */
export async function findAccountFor(apiKey: ApiKey, scope: Scope, keys: Pick<KeyStore, 'findAccount'>): Promise<Account> {
  const account = await findAccountOf(apiKey, keys)
  if (!account) throw invalidKey()
  if (account.spec.suspended) throw new ApiError('ACCOUNT_SUSPENDED', 'the account is suspended: contact the administrator of this service')
  if (hasScope(apiKey.spec.scopes ?? ['*'], scope)) return account
  const challenge = `${REALM}, error="insufficient_scope", scope="${scope}"`
  throw new ApiError('INSUFFICIENT_SCOPE', `the API key lacks the scope ${scope}`, { headers: { 'www-authenticate': challenge } })
}
