import { classifyUrl, type EgressRules } from '@tintype/crds/addresses/address-rules'
import type { Lister } from '@tintype/crds/client/lister'
import type { OpeningKeys } from '@tintype/crds/crypto/sealed'
import { Webhook, webhookDefinition } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { findNameProblem } from '@tintype/crds/schema/object-names'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'
import { readObject } from '../../kube/read-object.ts'
import type { SecretStore } from '../../secrets/ensure-secret.ts'
import type { Observed } from './decide.ts'
import { isBeyondLimit } from './limit.ts'
import { canOpen } from './sealed-secrets.ts'
import { evaluateSecret, type SecretState, signingSecretName } from './signing-secret.ts'

export interface ObserveDeps {
  webhooks: Pick<Lister<Webhook>, 'get' | 'byIndex'>
  secrets: SecretStore
  rules: EgressRules
  openingKeys: OpeningKeys
  /** A circuit is open while posts to the webhook with that key are paused. */
  circuitBreakers: { isOpen: (webhookKey: string) => boolean }
  now: () => Date
}

/**
 * Reads a Webhook from the cache and its Secret from the API server, unless its spec contains the secret. Undefined when the Webhook was
 * deleted.
 */
export async function observe(key: string, deps: ObserveDeps): Promise<Observed | undefined> {
  const { webhooks, rules, circuitBreakers } = deps
  const cached = webhooks.get(key)
  if (!cached || cached.metadata.deletionTimestamp !== undefined) return undefined
  const webhook = readObject('Webhook', Webhook, cached)
  return {
    webhook,
    secret: await findSecret(webhook, deps),
    url: webhook.spec.isDefault ? { allowed: true } : classifyUrl(webhook.spec.url, rules),
    isCircuitOpen: circuitBreakers.isOpen(key),
    isBeyondLimit: isBeyondLimit(webhook, webhooks.byIndex(ACCOUNT_INDEX, accountOf(webhook))),
  }
}

async function findSecret(webhook: Webhook, { secrets, openingKeys, now }: ObserveDeps): Promise<SecretState> {
  if (webhook.spec.signingSecrets) return (await canOpen(webhook, openingKeys, now())) ? 'sealed' : 'unreadable'
  const { name, namespace } = webhook.metadata
  if (findNameProblem(webhookDefinition, name) !== undefined) return 'unnamable'
  return evaluateSecret(await secrets.find(signingSecretName(name), { namespace }), webhook)
}
