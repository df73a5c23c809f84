import { instrumentsOf } from '@tintype/crds/client/metrics'
import type { Registry } from 'prom-client'

/** Metric hooks of the operator's quota controller. */
export interface QuotaMetrics {
  /** Units refunded for failed captures. */
  onRefunded: (units: number) => void
  /** A reservation of an ended gateway was settled, and this many units were returned. */
  onSettled: (unitsBack: number) => void
  /** A Screenshot was charged that no gateway had charged. */
  onCharge: (outcome: string) => void
}

/** Creates the quota metrics. */
export function createQuotaMetrics(registry: Registry): QuotaMetrics {
  const { counter } = instrumentsOf(registry)
  const refunds = counter('quota_refunds_total', 'Units refunded for failed captures.')
  const settled = counter('quota_settled_total', 'Reservations of ended gateways that were settled.')
  const returned = counter('quota_settled_units_total', 'Units returned by settled reservations.')
  const charges = counter('quota_charges_total', 'Charges at the first claim, by outcome.', ['outcome'])
  return {
    onRefunded: (units) => refunds.inc(units),
    onCharge: (outcome) => charges.inc({ outcome }),
    onSettled(unitsBack) {
      settled.inc()
      returned.inc(unitsBack)
    },
  }
}
