import type { DeliveryState, LoggedDelivery } from '@tintype/crds/delivery-log'
import type { DeliveryEntry, Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { REQUEST_WEBHOOK } from '@tintype/crds/request-webhook'

const STATES: Readonly<Record<DeliveryEntry['state'], DeliveryState>> = { open: 'pending', ok: 'successful', failed: 'failed' }

/**
 * The log may lack its last lines: an operator that dies takes them along. Whether a delivery is still pending says the ledger of the
 * Screenshot. One that has left the Kubernetes API has nothing pending; what became of it then nobody can tell, and calling it failed leads to
 * a redelivery, which receivers bear.
 */
export function withLedger(delivery: LoggedDelivery, { metadata, spec }: Webhook, live: Screenshot | undefined): LoggedDelivery {
  const [first] = delivery.attempts
  if (delivery.state !== 'pending' || !first) return delivery
  const name = spec.isDefault === true ? REQUEST_WEBHOOK : metadata.name
  const entry = live?.status?.deliveries?.[first.type]?.[name]
  // Without an entry the first attempt is not written down yet.
  const state = live === undefined ? 'failed' : entry === undefined ? 'pending' : STATES[entry.state]
  return { ...delivery, state }
}
