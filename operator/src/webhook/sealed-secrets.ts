import { type OpeningKeys, SealError, type SealedFor, unseal } from '@tintype/crds/crypto/sealed'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'

/** What signs a webhook's deliveries; two during a rotation, so that a receiver that knows either can check them. */
export interface SigningTexts {
  current: string
  previous?: string
}

/** Whom a webhook's sealed secrets are for: copied into another Webhook they open nowhere. */
export const sealedForWebhook = (webhook: Pick<Webhook, 'metadata' | 'spec'>): SealedFor => ({
  purpose: 'signing-secret',
  subject: webhook.metadata.name,
  account: accountOf(webhook),
})

/** The sealed secrets that sign at that instant, the current one first; none for a webhook whose secret is in a Secret. */
export function sealedTextsOf({ spec: { signingSecrets = [] } }: Pick<Webhook, 'spec'>, now: Date): string[] {
  return signingSecrets.filter(({ expiryTime }) => expiryTime === undefined || new Date(expiryTime) > now).map(({ sealed }) => sealed)
}

/** True when there is one, and every one opens. */
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
