import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import { defaultWebhookId } from '@tintype/crds/webhooks/request-webhook'
import type { FastifyInstance } from 'fastify'
import { ensureDefaultWebhook, findKnownDefaultWebhook } from '../../creation/default-webhook.ts'
import { assertNoQuery } from '../../translate/common/query.ts'
import { toStatisticsRecord, toWebhookRecord } from '../../translate/webhooks/webhook-record.ts'
import { countPending } from './count-pending.ts'
import { assertOwned, type ById, type Query, sendRecord } from './records.ts'
import { rotateSecret, type WebhooksDeps } from './webhooks.ts'

const WHAT = 'webhook'

/** Routes of the account's default webhook. With them a client gets the secret that signs deliveries to `webhook_url`. */
export function addDefaultWebhookRoutes(app: FastifyInstance, deps: WebhooksDeps): void {
  app.get<ById>('/webhooks/default', { config: { scope: 'webhooks:read' } }, async (request, reply) => {
    assertNoQuery(request.query)
    const { accountName } = request
    // Another replica may have just created it.
    const found = findKnownDefaultWebhook(accountName, deps) ?? (await deps.webhooks.find(defaultWebhookId(accountName)))
    const webhook = assertOwned(found, accountName, WHAT)
    const data = { ...toWebhookRecord(webhook), statistics: toStatisticsRecord(webhook, countPending(webhook, deps.screenshots)) }
    return sendRecord(request, reply, webhook, { success: true, data })
  })
  app.post<Query>('/webhooks/default/rotate-secret', { config: { scope: 'webhooks:write' } }, (request, reply) => {
    const { accountName } = request
    const read = async () => {
      const { metadata } = await ensureDefaultWebhook(accountName, deps)
      return assertOwned(await deps.webhooks.findLatest(webhookIdOf(metadata)), accountName, WHAT)
    }
    return rotateSecret(request, reply, read, deps)
  })
}
