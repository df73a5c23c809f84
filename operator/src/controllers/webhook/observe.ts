import { classifyUrl } from '@tintype/crds/addresses/address-rules'
import { Webhook, webhookDefinition } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { findNameProblem } from '@tintype/crds/schema/custom-resource'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'
import { findLive } from '../../kube/find-live.ts'
import { readObject } from '../../kube/read-object.ts'
import type { WebhookContext } from './context.ts'
import type { Observed } from './decide.ts'
import { isBeyondLimit } from './limit.ts'
import { canOpen } from './sealed-secrets.ts'
import { evaluateSecret, signingSecretName, toUnlabeledSecret } from './signing-secret.ts'

/**
 * Reads a Webhook from the cache and its Secret from the API server, unless its spec contains the secret. Undefined when the Webhook was
 * deleted.
 */
export async function observe(key: string, deps: WebhookContext): Promise<Observed | undefined> {
  const { rules, circuitBreakers } = deps
  const { lister } = deps.reflectors.webhooks
  const cached = await findLive(key, { lister, client: deps.clients.webhooks }, deps.now())
  if (!cached) return undefined
  const webhook = readObject('Webhook', Webhook, cached)
  return {
    webhook,
    ...(await findSecret(webhook, deps)),
    url: webhook.spec.isDefault ? { allowed: true } : classifyUrl(webhook.spec.url, rules),
    isCircuitOpen: circuitBreakers.isOpen(key),
    isBeyondLimit: isBeyondLimit(webhook, lister.byIndex(ACCOUNT_INDEX, accountOf(webhook))),
  }
}

async function findSecret(webhook: Webhook, { clients, keys, now }: WebhookContext): Promise<Pick<Observed, 'secret' | 'unlabeledSecret'>> {
  if (webhook.spec.signingSecrets) return { secret: (await canOpen(webhook, keys.openingKeys, now())) ? 'sealed' : 'unreadable' }
  const { name } = webhook.metadata
  if (findNameProblem(webhookDefinition, name) !== undefined) return { secret: 'unnamable' }
  const found = await clients.secrets.find(signingSecretName(name))
  return { secret: evaluateSecret(found, webhook), unlabeledSecret: found && toUnlabeledSecret(found, webhook) }
}
