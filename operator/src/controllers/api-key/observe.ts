import type { Secret } from '@tintype/crds/client/core-resources'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { Account } from '@tintype/crds/kinds/account'
import { ApiKey, hashesOf } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import { readObject } from '../../kube/read-object.ts'
import type { SecretStore } from '../../secrets/ensure-secret.ts'
import type { Observed } from './decide.ts'
import { evaluateExistingSecret, evaluateOwnSecret, type KeySecret } from './key-secret.ts'

/** Index of ApiKeys by their hashes. */
export const HASH_INDEX = 'hash'

export interface ObserveDeps {
  keys: Pick<Lister<ApiKey>, 'get' | 'byIndex'>
  accounts: Pick<Lister<Account>, 'get'>
  secrets: Pick<SecretStore, 'find'>
}

/** Collects the state of an ApiKey; undefined when it is deleted. A key of the REST API names no Secret, and has a hash from the start. */
export async function observe(name: string, { keys, accounts, secrets }: ObserveDeps): Promise<Observed | undefined> {
  const cached = keys.get(name)
  if (!cached || cached.metadata.deletionTimestamp !== undefined) return undefined
  const key = readObject('ApiKey', ApiKey, cached)
  const own = hashesOf(key)
  return {
    key,
    account: accounts.get(keyOf({ metadata: { ...key.metadata, name: accountOf(key) } })),
    secret: await findSecret(key, secrets),
    isTaken: (hash) =>
      keys.byIndex(HASH_INDEX, hash).some((other) => !isSameKey(other, key) && (!own.includes(hash) || isOlder(other, key))),
  }
}

async function findSecret(key: ApiKey, secrets: Pick<SecretStore, 'find'>): Promise<KeySecret | undefined> {
  const { existingSecret, secretName } = key.spec
  const { namespace } = key.metadata
  const find = (name: string): Promise<Secret | undefined> => secrets.find(name, { namespace })
  if (existingSecret !== undefined) return evaluateExistingSecret(await find(existingSecret), key)
  return secretName === undefined ? undefined : evaluateOwnSecret(await find(secretName), key)
}

const isSameKey = (one: ApiKey, other: ApiKey): boolean => one.metadata.uid === other.metadata.uid

/** Uses the gateway's order: of two keys with the same text, the older one authenticates. */
function isOlder(one: ApiKey, other: ApiKey): boolean {
  const order = ({ metadata: { creationTimestamp, name } }: ApiKey): string => `${creationTimestamp}/${name}`
  return order(one) < order(other)
}
