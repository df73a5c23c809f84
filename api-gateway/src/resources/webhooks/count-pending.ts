import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { REQUEST_WEBHOOK } from '@tintype/crds/webhooks/request-webhook'
import type { ScreenshotStore } from '../../store/ports.ts'

/** Counts pending deliveries in `status.deliveries`, because a crashed operator loses the statistics of its last seconds. */
export function countPending(webhook: Webhook, screenshots: Pick<ScreenshotStore, 'countOpenDeliveries'>): number {
  const { metadata, spec } = webhook
  const names = [metadata.name, ...(spec.isDefault === true ? [REQUEST_WEBHOOK] : [])]
  return names.reduce((sum, name) => sum + screenshots.countOpenDeliveries(accountOf(webhook), name), 0)
}
