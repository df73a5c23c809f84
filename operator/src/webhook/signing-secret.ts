import type { Secret } from '@tintype/crds/client/core-resources'
import type { NewObject } from '@tintype/crds/client/resource'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import type { Webhook } from '@tintype/crds/kinds/webhook'

/** Type of the Secrets that sign deliveries. Others are never read: a webhook's name must not lead to a foreign Secret. */
export const SIGNING_SECRET_TYPE = 'tintype.dev/signing-secret'

const DATA_KEY = 'signing-secret'

/** Name of a webhook's Secret. */
export const signingSecretName = (webhook: string): string => `${webhook}-signing-secret`

/** The Secret that a webhook owns: it goes when the webhook goes. */
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
 * Where the webhook's signing secret is. `sealed`: in its spec; `unreadable`: there too, and does not open. The others are of the Secret of
 * its name: `leftover` belongs to a deleted webhook of the same name and is about to go.
 */
export type SecretState = 'sealed' | 'unreadable' | 'missing' | 'usable' | 'foreign' | 'leftover'

/** Judges the Secret that has the webhook's name for it. A person may have made it, with a text of their own. */
export function evaluateSecret(secret: Secret | undefined, webhook: Webhook): SecretState {
  if (!secret) return 'missing'
  if (secret.type !== SIGNING_SECRET_TYPE || textOf(secret) === '') return 'foreign'
  const owner = secret.metadata.ownerReferences?.find(({ kind }) => kind === 'Webhook')
  return owner === undefined || owner.uid === webhook.metadata.uid ? 'usable' : 'leftover'
}

/** The text that signs a webhook's deliveries; undefined when the Secret is not the webhook's to use. */
export const readSigningSecret = (secret: Secret, webhook: Webhook): string | undefined =>
  evaluateSecret(secret, webhook) === 'usable' ? textOf(secret) : undefined

const textOf = ({ data }: Secret): string =>
  Buffer.from(data?.[DATA_KEY] ?? '', 'base64')
    .toString('utf8')
    .trim()
