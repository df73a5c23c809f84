import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import { defaultWebhookId } from '@tintype/crds/webhooks/request-webhook'
import type { FastifyReply } from 'fastify'
import type { Input } from '../../http/route.ts'
import { assertOwned, sendRecord } from '../shared/owned-records.ts'
import type { RotateBody } from '../shared/rotation.ts'
import { countDeliveries } from './count-deliveries.ts'
import { ensureDefaultWebhook, findKnownDefaultWebhook } from './default-webhook.ts'
import { rotateSecretOf, type WebhooksDeps } from './handlers.ts'
import { toStatisticsRecord, toWebhookRecord } from './record.ts'

// Handlers of the account's default webhook. With them a client gets the secret that signs deliveries to `webhook_url`.

const WHAT = 'webhook'

export async function readDefaultWebhook(input: Input, deps: WebhooksDeps): Promise<FastifyReply> {
  const { accountName } = input.request
  // Another replica may have just created it.
  const found = findKnownDefaultWebhook(accountName, deps) ?? (await deps.webhooks.find(defaultWebhookId(accountName)))
  const webhook = assertOwned(found, accountName, WHAT)
  const data = { ...toWebhookRecord(webhook), statistics: toStatisticsRecord(webhook, await countDeliveries(webhook, deps)) }
  return sendRecord(input, webhook, { success: true, data })
}

export function rotateDefaultSecret(input: Input<object, RotateBody>, deps: WebhooksDeps): Promise<FastifyReply> {
  const { accountName } = input.request
  const read = async () => {
    const { metadata } = await ensureDefaultWebhook(accountName, deps)
    return assertOwned(await deps.webhooks.findLatest(webhookIdOf(metadata)), accountName, WHAT)
  }
  return rotateSecretOf(read, input, deps)
}
