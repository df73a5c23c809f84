import { classifyUrl, type EgressRules } from '@tintype/crds/address-rules'
import type { Lister } from '@tintype/crds/client/lister'
import { Webhook } from '@tintype/crds/kinds/webhook'
import type { SecretStore } from '../account/ensure-secret.ts'
import { TerminalError } from '../controller/errors.ts'
import type { Observed } from './decide.ts'
import { judgeSecret, signingSecretName } from './signing-secret.ts'

export interface ObserveDeps {
  webhooks: Pick<Lister<Webhook>, 'get'>
  secrets: SecretStore
  rules: EgressRules
}

/** Reads a Webhook from the cache and its Secret from the API server; undefined when the Webhook is gone. */
export async function observe(key: string, { webhooks, secrets, rules }: ObserveDeps): Promise<Observed | undefined> {
  const cached = webhooks.get(key)
  if (!cached || cached.metadata.deletionTimestamp !== undefined) return undefined
  const { success, data: webhook, error } = Webhook.safeParse(cached)
  if (!success) throw new TerminalError('InvalidObject', `the Webhook ${key} is not as its definition says`, { cause: error })
  const { name, namespace } = webhook.metadata
  const secret = await secrets.find(signingSecretName(name), { namespace })
  return { webhook, secret: judgeSecret(secret, webhook), url: classifyUrl(webhook.spec.url, rules) }
}
