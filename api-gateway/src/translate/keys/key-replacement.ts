import { type ApiKey, type Scope, scopesOf } from '@tintype/crds/kinds/api-key'
import { ApiError } from '../../errors.ts'
import { hashesOf } from './credentials.ts'
import type { UpdateKeyBody } from './key-body.ts'

// No request may leave an account without a key that manages keys: nobody could let the account in again over REST. A change that takes such
// a key away needs another key that stays.

/** What a request does to a key. */
export type KeyUpdate = UpdateKeyBody | 'delete'

const covers = (granting: readonly Scope[], wanted: readonly Scope[]): boolean =>
  granting.includes('*') || wanted.every((scope) => granting.includes(scope))

const managesKeys = (key: ApiKey): boolean => covers(scopesOf(key), ['keys:write'])

const endOf = ({ spec: { expiryTime } }: ApiKey): number => (expiryTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiryTime))

/** True while requests with the key are let in, as far as the key itself tells. */
const isValid = (key: ApiKey, now: Date): boolean => key.spec.active !== false && endOf(key) > now.getTime() && hashesOf(key).length > 0

/** From when on the account lacks what the key can do now; undefined when the change takes nothing away. */
function findLossTime(key: ApiKey, change: KeyUpdate, now: Date): number | undefined {
  if (!isValid(key, now) || !managesKeys(key)) return undefined
  if (change === 'delete' || change.is_active === false) return now.getTime()
  if (change.scopes !== undefined && !covers(change.scopes, scopesOf(key))) return now.getTime()
  const end = typeof change.expires_at === 'string' ? Date.parse(change.expires_at) : Number.POSITIVE_INFINITY
  return end < endOf(key) ? end : undefined
}

/**
 * The key that stands in for one that a change takes away: it may do as much, and is still valid then.
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
  throw new ApiError('LAST_API_KEY', 'no other valid key of the account may do as much for as long')
}
