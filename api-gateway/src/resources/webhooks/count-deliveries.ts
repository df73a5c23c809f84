import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { missedPrefix } from '@tintype/crds/records/storage-keys'
import { listPages } from '@tintype/crds/storage/stored-objects'
import { openPrefixOf, REQUEST_WEBHOOK } from '@tintype/crds/webhooks/deliveries'
import type { ObjectStore, ScreenshotStore } from '../../store/ports.ts'

/** Deliveries of archived screenshots are counted up to this number. */
export const MAX_COUNTED = 10_000

export interface DeliveryCounts {
  /** Another attempt follows. */
  pending: number
  /** They have failed, and can be redelivered. */
  missed: number
}

/** Counts the deliveries of a webhook: those of live screenshots, and those in the bucket. */
export async function countDeliveries(
  webhook: Webhook,
  { screenshots, objects }: { screenshots: Pick<ScreenshotStore, 'countOpenDeliveries'>; objects: Pick<ObjectStore, 'list'> },
): Promise<DeliveryCounts> {
  const account = accountOf(webhook)
  const name = webhook.spec.isDefault === true ? REQUEST_WEBHOOK : webhook.metadata.name
  const [open, missed] = await Promise.all([countKeys(openPrefixOf(account, name), objects), countMissed(webhook, objects)])
  return { pending: countPending(webhook, screenshots) + open, missed }
}

/** Counts the missed deliveries of a webhook. */
export const countMissed = (webhook: Webhook, objects: Pick<ObjectStore, 'list'>): Promise<number> =>
  countKeys(missedPrefix(accountOf(webhook), webhookIdOf(webhook.metadata)), objects)

async function countKeys(prefix: string, objects: Pick<ObjectStore, 'list'>): Promise<number> {
  let count = 0
  for await (const keys of listPages(prefix, objects)) {
    count += keys.length
    if (count >= MAX_COUNTED) break
  }
  return count
}

/** Counts pending deliveries in `status.deliveries`, because a crashed operator loses the statistics of its last seconds. */
function countPending(webhook: Webhook, screenshots: Pick<ScreenshotStore, 'countOpenDeliveries'>): number {
  const { metadata, spec } = webhook
  const names = [metadata.name, ...(spec.isDefault === true ? [REQUEST_WEBHOOK] : [])]
  return names.reduce((sum, name) => sum + screenshots.countOpenDeliveries(accountOf(webhook), name), 0)
}
