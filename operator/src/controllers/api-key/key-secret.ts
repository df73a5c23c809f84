import type { Secret } from '@tintype/crds/client/kinds'
import type { NewObject } from '@tintype/crds/client/resource'
import { isKeyText } from '@tintype/crds/crypto/api-keys'
import { API_VERSION, DEFAULT_ACCOUNT, Label, secretNames } from '@tintype/crds/identifiers/names'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'

/** Type of Secrets that hold a key text. Secrets of other types are never read: the spec of an ApiKey must not lead to a foreign Secret. */
export const API_KEY_SECRET_TYPE = 'tintype.dev/api-key'

const DATA_KEY = 'api-key'

/** Builds the Secret with the generated text of a key. Kubernetes deletes it together with the key. */
export function buildKeySecret({ metadata, spec }: ApiKey, text: string): NewObject<Secret> {
  const { name, uid } = metadata
  return {
    metadata: {
      name: spec.secretName ?? name,
      labels: { [Label.account]: accountOf({ spec }) },
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'ApiKey', name, uid, controller: true, blockOwnerDeletion: false }],
    },
    type: API_KEY_SECRET_TYPE,
    data: { [DATA_KEY]: Buffer.from(text).toString('base64') },
  }
}

/**
 * State of the Secret that an ApiKey names. `foreign`: it may not be used, and the condition does not say why, because users who may create
 * ApiKeys must not learn about other Secrets. `leftover`: it belongs to a deleted ApiKey of the same name and is about to be deleted.
 */
export type KeySecret = { state: 'missing' | 'foreign' | 'leftover' | 'malformed' } | { state: 'usable'; text: string }

/**
 * Evaluates the Secret that the operator creates: only a Secret that it created for this very key is usable. It never creates one under the name of
 * a Secret of the release, which is missing for a moment while an administrator rotates it.
 */
export function evaluateOwnSecret(secret: Secret | undefined, key: ApiKey, release: string): KeySecret {
  if (Object.values(secretNames(release)).some((name) => name === key.spec.secretName)) return { state: 'foreign' }
  if (!secret) return { state: 'missing' }
  const owner = ownerOf(secret)
  if (secret.type !== API_KEY_SECRET_TYPE || owner === undefined) return { state: 'foreign' }
  if (owner.uid === key.metadata.uid) return toUsable(secret)
  return { state: owner.name === key.metadata.name ? 'leftover' : 'foreign' }
}

/** Evaluates a Secret that a user created: its account label must match, and it must not belong to another key. */
export function evaluateExistingSecret(secret: Secret | undefined, key: ApiKey): KeySecret {
  if (!secret) return { state: 'missing' }
  const owner = ownerOf(secret)
  const account = secret.metadata.labels?.[Label.account] ?? DEFAULT_ACCOUNT
  const isOurs = secret.type === API_KEY_SECRET_TYPE && account === accountOf(key) && (!owner || owner.uid === key.metadata.uid)
  return isOurs ? toUsable(secret) : { state: 'foreign' }
}

const ownerOf = ({ metadata }: Secret) => metadata.ownerReferences?.find(({ kind }) => kind === 'ApiKey')

function toUsable({ data }: Secret): KeySecret {
  const text = Buffer.from(data?.[DATA_KEY] ?? '', 'base64')
    .toString('utf8')
    .trim()
  return isKeyText(text) ? { state: 'usable', text } : { state: 'malformed' }
}
