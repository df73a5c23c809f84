import { type ApiKey, accountScopes, hashesOf, hasScope, type Scope, scopesOf } from '@tintype/crds/kinds/api-key'
import { ApiError } from '../../common/errors.ts'
import type { UpdateKeyBody } from './bodies.ts'
import { isActive } from './credentials.ts'

// An account must always keep a key that can manage keys, because otherwise it could not get a new one over REST. A change that disables such a key
// needs another key as its replacement.

/** A change of a key. */
export type KeyUpdate = UpdateKeyBody | 'delete'

/** Scopes over all accounts do not count, because an account does not need them to manage its keys. */
const covers = (granting: readonly Scope[], wanted: readonly Scope[]): boolean =>
  accountScopes(wanted).every((scope) => hasScope(granting, scope))

const managesKeys = (key: ApiKey): boolean => covers(scopesOf(key), ['keys:write'])

const endOf = ({ spec: { expiryTime } }: ApiKey): number => (expiryTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiryTime))

/** True when the key itself is valid, whatever the state of its account. */
const isValid = (key: ApiKey, now: Date): boolean => isActive(key, now) && hashesOf(key).length > 0

/** When the account loses the scopes of the key. Undefined when the change removes none. */
function findLossTime(key: ApiKey, change: KeyUpdate, now: Date): number | undefined {
  if (!isValid(key, now) || !managesKeys(key)) return undefined
  if (change === 'delete' || change.is_active === false) return now.getTime()
  if (change.scopes !== undefined && !covers(change.scopes, scopesOf(key))) return now.getTime()
  const end = typeof change.expires_at === 'string' ? Date.parse(change.expires_at) : Number.POSITIVE_INFINITY
  return end < endOf(key) ? end : undefined
}

/**
 * Finds a replacement for a key that a change disables: a key with the same scopes that is valid for longer.
 * @param readAll reads the account's keys as they are now; not called when no other key is needed
 * @returns undefined when no other key is needed
 * @throws ApiError LAST_API_KEY when there is none
 */
export async function findReplacementKey(
  key: ApiKey,
  change: KeyUpdate,
  readAll: () => Promise<readonly ApiKey[]>,
  now: Date,
): Promise<ApiKey | undefined> {
  const loss = findLossTime(key, change, now)
  if (loss === undefined) return undefined
  const successor = (await readAll()).find(
    (other) =>
      other.metadata.name !== key.metadata.name &&
      isValid(other, now) &&
      managesKeys(other) &&
      covers(scopesOf(other), scopesOf(key)) &&
      endOf(other) > loss,
  )
  if (successor) return successor
  throw new ApiError('LAST_API_KEY', 'no other valid key of the account has the same scopes for as long: create one first')
}
