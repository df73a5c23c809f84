import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import type { UndeliveredStore } from './undelivered-store.ts'

export interface RedeliverMissedDeps {
  store: UndeliveredStore
  now: () => Date
}

/**
 * Opens the missed deliveries of a webhook again, for one attempt each. Returns their number. The next leader continues if this one stops.
 * @throws RetryableError, FencedError
 */
export async function redeliverMissed(webhook: Webhook, { store, now }: RedeliverMissedDeps): Promise<number> {
  const account = accountOf(webhook)
  const webhookId = webhookIdOf(webhook.metadata)
  let count = 0
  for await (const key of store.missed(account, webhookId)) {
    const missed = await store.read(key)
    if (!missed) continue
    await store.open(account, { ...missed, manual: true, at: now().toISOString() })
    await store.forgetMissed(account, webhookId, missed.delivery)
    count += 1
  }
  return count
}
