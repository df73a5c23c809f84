import { keyOf } from '@tintype/crds/client/kube-object'
import { ApiKey, hashesOf } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { findAccount } from '../../kube/find-account.ts'
import { findLive } from '../../kube/find-live.ts'
import { readObject } from '../../kube/read-object.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import type { SecretStore } from '../../secrets/ensure-secret.ts'
import type { Observed } from './decide.ts'
import { evaluateExistingSecret, evaluateOwnSecret, type KeySecret } from './key-secret.ts'

/** Index of ApiKeys by their hashes. */
export const HASH_INDEX = 'hash'

/** Collects the state of an ApiKey; undefined when it is deleted. A key of the REST API names no Secret, and has a hash from the start. */
export async function observe(name: string, { reflectors, clients, config, now }: TermDeps): Promise<Observed | undefined> {
  const keys = reflectors.apiKeys.lister
  const cached = await findLive(name, { lister: keys, client: clients.apiKeys }, now())
  if (!cached) return undefined
  const key = readObject('ApiKey', ApiKey, cached)
  const own = hashesOf(key)
  return {
    key,
    account: findAccount(keyOf({ metadata: { ...key.metadata, name: accountOf(key) } }), reflectors.accounts.lister),
    secret: await findSecret(key, clients.secrets, config.release),
    isTaken: (hash) =>
      keys
        .byIndex(HASH_INDEX, hash)
        .some((other) => !isSameKey(other, key) && !isBeingDeleted(other) && (!own.includes(hash) || isOlder(other, key))),
  }
}

async function findSecret(key: ApiKey, secrets: Pick<SecretStore, 'find'>, release: string): Promise<KeySecret | undefined> {
  const { existingSecret, secretName } = key.spec
  if (existingSecret !== undefined) return evaluateExistingSecret(await secrets.find(existingSecret), key)
  return secretName === undefined ? undefined : evaluateOwnSecret(await secrets.find(secretName), key, release)
}

const isSameKey = (one: ApiKey, other: ApiKey): boolean => one.metadata.uid === other.metadata.uid

/** Uses the gateway's order: of two keys with the same text, the older one authenticates. */
function isOlder(one: ApiKey, other: ApiKey): boolean {
  const order = ({ metadata: { creationTimestamp, name } }: ApiKey): string => `${creationTimestamp}/${name}`
  return order(one) < order(other)
}
