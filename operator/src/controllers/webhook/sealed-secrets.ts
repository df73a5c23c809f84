import { type OpeningKeys, SealError, type SealedFor, unseal } from '@tintype/crds/crypto/sealed'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'

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
