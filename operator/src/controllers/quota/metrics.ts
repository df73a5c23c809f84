import { instrumentsOf } from '@tintype/crds/client/probe-server'
import type { Registry } from 'prom-client'

export type QuotaMetrics = ReturnType<typeof createQuotaMetrics>

/** Creates the metrics. Call it once per process. */
export function createQuotaMetrics(registry: Registry) {
  const { counter } = instrumentsOf(registry)
  return {
    refundedUnits: counter('quota_refunds_total', 'Units refunded for failed captures.'),
    settled: counter('quota_settled_total', 'Reservations of ended gateways that were settled.'),
    settledUnits: counter('quota_settled_units_total', 'Units returned by settled reservations.'),
    charges: counter('quota_charges_total', 'Charges at the first claim, by outcome.', ['outcome']),
  }
}
