import { seal } from '@tintype/crds/crypto/sealed'
import { newSigningSecret } from '@tintype/crds/crypto/signatures'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { REQUEST_EVENTS } from '@tintype/crds/schema/event-types'
import { DEFAULT_WEBHOOK_URL, defaultWebhookId, findDefaultWebhook } from '@tintype/crds/webhooks/deliveries'
import { ApiError } from '../../common/errors.ts'
import type { RecordStore, SealingKeySource } from '../../store/ports.ts'
import { hintOf } from './signing-secret.ts'

export interface DefaultWebhookDeps {
  webhooks: Pick<RecordStore<Webhook>, 'ofAccount' | 'create'>
  sealingKey: SealingKeySource
}

/** An account's default webhook from the informer cache. */
export const findKnownDefaultWebhook = (account: string, { webhooks }: Pick<DefaultWebhookDeps, 'webhooks'>): Webhook | undefined =>
  findDefaultWebhook(webhooks.ofAccount(account))

/**
 * Returns the account's default webhook and creates it if necessary. It signs deliveries to `webhook_url`. Its first secret is never shown: the
 * account gets a secret by rotating it.
 * @throws ApiError CONFLICT when another webhook has its name
 */
export async function ensureDefaultWebhook(account: string, deps: DefaultWebhookDeps): Promise<Webhook> {
  const known = findKnownDefaultWebhook(account, deps)
  if (known) return known
  const name = toObjectName(defaultWebhookId(account))
  const text = newSigningSecret()
  const sealed = await seal(text, { purpose: 'signing-secret', subject: name, account }, deps.sealingKey())
  const created = await deps.webhooks.create({
    metadata: { name },
    spec: {
      accountName: account,
      isDefault: true,
      name: 'webhook_url of single requests',
      url: DEFAULT_WEBHOOK_URL,
      events: [...REQUEST_EVENTS],
      signingSecrets: [{ sealed, hint: hintOf(text) }],
    },
  })
  if (accountOf(created) === account && created.spec.isDefault) return created
  throw new ApiError('CONFLICT', `the name ${name} is in use by another webhook`)
}
