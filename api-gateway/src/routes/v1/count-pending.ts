import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/record'
import { REQUEST_WEBHOOK } from '@tintype/crds/request-webhook'
import type { ScreenshotStore } from '../../store/ports.ts'

/** Deliveries that await another attempt, from the ledgers themselves: an operator that dies takes the counts of its last seconds along. */
export function countPending(webhook: Webhook, screenshots: Pick<ScreenshotStore, 'countOpenDeliveries'>): number {
  const { metadata, spec } = webhook
  const names = [metadata.name, ...(spec.isDefault === true ? [REQUEST_WEBHOOK] : [])]
  return names.reduce((sum, name) => sum + screenshots.countOpenDeliveries(accountOf(webhook), name), 0)
}
