import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { eventIdOf, eventTimeOf } from '@tintype/crds/webhooks/events'
import type { DeliveryStateChange } from './decide.ts'
import { toDeliveryId } from './delivery-worker.ts'
import type { DeliveryLog } from './telemetry/delivery-log.ts'

/** Logs that an endpoint no longer wanted an event; otherwise the delivery would stay pending in the log. */
export function noteWithdrawal(
  webhook: Webhook | undefined,
  screenshot: Screenshot,
  { event: type, after }: DeliveryStateChange,
  deliveryLog: Pick<DeliveryLog, 'note'>,
): void {
  if (!webhook) return
  const id = eventIdOf(screenshot, type)
  deliveryLog.note(webhook, {
    delivery: toDeliveryId({ at: eventTimeOf(screenshot, type) }, { id }, webhook),
    event: id,
    type,
    screenshot: screenshotIdOf(screenshot.metadata),
    attempt: after.attempts,
    last: true,
    at: after.at,
    milliseconds: 0,
    statusCode: 0,
    outcome: 'withdrawn',
  })
}
