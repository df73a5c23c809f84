import type { Secret } from '@tintype/crds/client/core-resources'
import type { NewObject } from '@tintype/crds/client/resource'
import { isKeyText } from '@tintype/crds/crypto/key-text'
import { API_VERSION, DEFAULT_ACCOUNT, Label } from '@tintype/crds/identifiers/names'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'

/** Type of the Secrets that hold a key's text. Others are never looked into: an ApiKey's spec must not lead to a foreign Secret. */
export const API_KEY_SECRET_TYPE = 'tintype.dev/api-key'

const DATA_KEY = 'api-key'

/** The Secret in which a person finds the text that was made for a key; it goes when the key goes. */
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
 * How the Secret that an ApiKey names stands to it. `foreign`: it may not be used, and nobody is told why, for who may make ApiKeys must not
 * learn about Secrets. `leftover`: of a deleted ApiKey of the same name, about to go.
 */
export type KeySecret = { state: 'missing' | 'foreign' | 'leftover' | 'malformed' } | { state: 'usable'; text: string }

/** Judges the Secret that the operator was to make: only one that it made for this very key will do. */
export function evaluateOwnSecret(secret: Secret | undefined, key: ApiKey): KeySecret {
  if (!secret) return { state: 'missing' }
  const owner = ownerOf(secret)
  if (secret.type !== API_KEY_SECRET_TYPE || owner === undefined) return { state: 'foreign' }
  if (owner.uid === key.metadata.uid) return toUsable(secret)
  return { state: owner.name === key.metadata.name ? 'leftover' : 'foreign' }
}

/** Judges a Secret that a person made: it must say for which account it is, and be no other key's. */
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
