import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import { defaultWebhookId } from '@tintype/crds/webhooks/request-webhook'
import type { FastifyReply } from 'fastify'
import type { Input } from '../../http/route.ts'
import { assertOwned } from '../shared/owned-records.ts'
import type { RotateBody } from '../shared/rotation.ts'
import { ensureDefaultWebhook, findKnownDefaultWebhook } from './default-webhook.ts'
import { rotateSecretOf, sendWebhook, type WebhooksDeps } from './handlers.ts'

// Handlers of the account's default webhook. With them a client gets the secret that signs deliveries to `webhook_url`.

const WHAT = 'webhook'

export async function readDefaultWebhook(input: Input, deps: WebhooksDeps): Promise<FastifyReply> {
  const { accountName } = input.request
  // Another replica may have just created it.
  const found = findKnownDefaultWebhook(accountName, deps) ?? (await deps.webhooks.find(defaultWebhookId(accountName)))
  return sendWebhook(input, assertOwned(found, accountName, WHAT), deps)
}

export function rotateDefaultSecret(input: Input<object, RotateBody>, deps: WebhooksDeps): Promise<FastifyReply> {
  const { accountName } = input.request
  const read = async () => {
    const { metadata } = await ensureDefaultWebhook(accountName, deps)
    return assertOwned(await deps.webhooks.findLatest(webhookIdOf(metadata)), accountName, WHAT)
  }
  return rotateSecretOf(read, input, deps)
}
