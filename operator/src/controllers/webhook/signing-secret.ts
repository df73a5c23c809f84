import type { Secret } from '@tintype/crds/client/kinds'
import type { NewObject } from '@tintype/crds/client/resource'
import { type OpeningKeys, SealError, type SealedFor, unseal } from '@tintype/crds/crypto/sealed'
import { API_VERSION, Label } from '@tintype/crds/identifiers/names'
import { SIGNING_SECRET_SUFFIX, type Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'

/** Type of Secrets that sign deliveries. Secrets of other types are never read: a webhook's name must not lead to a foreign Secret. */
const SIGNING_SECRET_TYPE = 'tintype.dev/signing-secret'

const DATA_KEY = 'signing-secret'

/** Name of the Secret of a webhook. */
export const signingSecretName = (webhook: string): string => webhook + SIGNING_SECRET_SUFFIX

/** Builds the Secret that a webhook owns. Kubernetes deletes it together with the webhook. */
export function buildSigningSecret({ metadata, spec }: Webhook, text: string): NewObject<Secret> {
  const { name, uid } = metadata
  return {
    metadata: {
      name: signingSecretName(name),
      // A backup restores the Secret without its owner.
      labels: { [Label.account]: accountOf({ spec }) },
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'Webhook', name, uid, controller: true, blockOwnerDeletion: false }],
    },
    type: SIGNING_SECRET_TYPE,
    data: { [DATA_KEY]: Buffer.from(text).toString('base64') },
  }
}

/**
 * State of a webhook's signing secret. `sealed`: it is in the spec. `unreadable`: it is in the spec but cannot be opened. The other states
 * are about the Secret with its name. `unnamable`: the name is too long for a Secret. `leftover`: it belongs to a deleted webhook of the same
 * name and is about to be deleted. `unlabeled`: it lacks the label of the webhook's account. `kept`: so it does, but signed before that was required.
 */
export type SecretState = 'sealed' | 'unreadable' | 'unnamable' | 'missing' | 'usable' | 'kept' | 'unlabeled' | 'foreign' | 'leftover'

/** Evaluates the Secret with the webhook's name for it. A user may have created it with their own text, and then its label must match. */
export function evaluateSecret(secret: Secret | undefined, webhook: Webhook): SecretState {
  if (!secret) return 'missing'
  if (secret.type !== SIGNING_SECRET_TYPE || textOf(secret) === '') return 'foreign'
  const owner = secret.metadata.ownerReferences?.find(({ kind }) => kind === 'Webhook')
  if (owner) return owner.uid === webhook.metadata.uid ? 'usable' : 'leftover'
  const account = secret.metadata.labels?.[Label.account]
  if (account === accountOf(webhook)) return 'usable'
  return account === undefined && isKept(secret, webhook) ? 'kept' : 'unlabeled'
}

/** `status.unlabeledSecret` of a webhook that keeps this Secret: neither another Secret of its name nor another account inherits it. */
export const toUnlabeledSecret = ({ metadata }: Secret, webhook: Webhook): string => `${metadata.uid} ${accountOf(webhook)}`

/** Earlier versions wrote only the name, and only of a Secret that signed. */
function isKept(secret: Secret, webhook: Webhook): boolean {
  const { signingSecretName: name, unlabeledSecret } = webhook.status ?? {}
  return unlabeledSecret === undefined ? name === secret.metadata.name : unlabeledSecret === toUnlabeledSecret(secret, webhook)
}

/** Returns the text that signs a webhook's deliveries; undefined when the Secret does not belong to the webhook. */
export const readSigningSecret = (secret: Secret, webhook: Webhook): string | undefined =>
  ['usable', 'kept'].includes(evaluateSecret(secret, webhook)) ? textOf(secret) : undefined

const textOf = ({ data }: Secret): string =>
  Buffer.from(data?.[DATA_KEY] ?? '', 'base64')
    .toString('utf8')
    .trim()

/** Texts that sign a webhook's deliveries. During a rotation there are two, so that a receiver with either secret can verify them. */
export interface SigningTexts {
  current: string
  previous?: string
}

/** Subject to which a webhook's secrets are sealed: copied to another Webhook, they cannot be opened. */
export const sealedForWebhook = (webhook: Pick<Webhook, 'metadata' | 'spec'>): SealedFor => ({
  purpose: 'signing-secret',
  subject: webhook.metadata.name,
  account: accountOf(webhook),
})

/** The sealed secrets that sign at that time, the current one first; none for a webhook with a Secret. */
export function sealedTextsOf({ spec: { signingSecrets = [] } }: Pick<Webhook, 'spec'>, now: Date): string[] {
  return signingSecrets.filter(({ expiryTime }) => expiryTime === undefined || new Date(expiryTime) > now).map(({ sealed }) => sealed)
}

/** True when there is at least one and all can be opened. */
export async function canOpen(webhook: Webhook, openingKeys: OpeningKeys, now: Date): Promise<boolean> {
  try {
    const texts = sealedTextsOf(webhook, now)
    for (const sealed of texts) await unseal(sealed, sealedForWebhook(webhook), openingKeys)
    return texts.length > 0
  } catch (error) {
    if (error instanceof SealError) return false
    throw error
  }
}
