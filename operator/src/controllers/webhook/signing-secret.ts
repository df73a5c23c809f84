import type { Secret } from '@tintype/crds/client/core-resources'
import type { NewObject } from '@tintype/crds/client/resource'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import { SIGNING_SECRET_SUFFIX, type Webhook } from '@tintype/crds/kinds/webhook'

/** Type of Secrets that sign deliveries. Secrets of other types are never read: a webhook's name must not lead to a foreign Secret. */
export const SIGNING_SECRET_TYPE = 'tintype.dev/signing-secret'

const DATA_KEY = 'signing-secret'

/** Name of the Secret of a webhook. */
export const signingSecretName = (webhook: string): string => webhook + SIGNING_SECRET_SUFFIX

/** Builds the Secret that a webhook owns. Kubernetes deletes it together with the webhook. */
export function buildSigningSecret({ metadata }: Webhook, text: string): NewObject<Secret> {
  const { name, uid } = metadata
  return {
    metadata: {
      name: signingSecretName(name),
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'Webhook', name, uid, controller: true, blockOwnerDeletion: false }],
    },
    type: SIGNING_SECRET_TYPE,
    data: { [DATA_KEY]: Buffer.from(text).toString('base64') },
  }
}

/**
 * State of a webhook's signing secret. `sealed`: it is in the spec. `unreadable`: it is in the spec but cannot be opened. The other states
 * are about the Secret with its name. `unnamable`: the name is too long for a Secret. `leftover`: it belongs to a deleted webhook of the same
 * name and is about to be deleted.
 */
export type SecretState = 'sealed' | 'unreadable' | 'unnamable' | 'missing' | 'usable' | 'foreign' | 'leftover'

/** Evaluates the Secret with the webhook's name for it. A user may have created it with their own text. */
export function evaluateSecret(secret: Secret | undefined, webhook: Webhook): SecretState {
  if (!secret) return 'missing'
  if (secret.type !== SIGNING_SECRET_TYPE || textOf(secret) === '') return 'foreign'
  const owner = secret.metadata.ownerReferences?.find(({ kind }) => kind === 'Webhook')
  return owner === undefined || owner.uid === webhook.metadata.uid ? 'usable' : 'leftover'
}

/** Returns the text that signs a webhook's deliveries; undefined when the Secret does not belong to the webhook. */
export const readSigningSecret = (secret: Secret, webhook: Webhook): string | undefined =>
  evaluateSecret(secret, webhook) === 'usable' ? textOf(secret) : undefined

const textOf = ({ data }: Secret): string =>
  Buffer.from(data?.[DATA_KEY] ?? '', 'base64')
    .toString('utf8')
    .trim()
