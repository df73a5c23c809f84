import { Counter, type Registry } from 'prom-client'

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
  const registers = [registry]
  const refunds = new Counter({ name: 'quota_refunds_total', help: 'Units refunded for failed captures.', registers })
  const settled = new Counter({ name: 'quota_settled_total', help: 'Reservations of ended gateways that were settled.', registers })
  const returned = new Counter({ name: 'quota_settled_units_total', help: 'Units returned by settled reservations.', registers })
  const charges = new Counter({
    name: 'quota_charges_total',
    help: 'Charges at the first claim, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  })
  return {
    onRefunded: (units) => refunds.inc(units),
    onCharge: (outcome) => charges.inc({ outcome }),
    onSettled(unitsBack) {
      settled.inc()
      returned.inc(unitsBack)
    },
  }
}
