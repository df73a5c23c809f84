import { Counter, type Registry } from 'prom-client'

/** What the operator's part of the quota reports. */
export interface QuotaMetrics {
  /** Units that went back for failed captures. */
  onRefunded: (units: number) => void
  /** A reservation of a gateway that has ended was settled; so many units went back. */
  onSettled: (unitsBack: number) => void
  /** A Screenshot that no gateway paid for. */
  onCharge: (outcome: string) => void
}

/** Makes the metrics of the quota. */
export function createQuotaMetrics(registry: Registry): QuotaMetrics {
  const registers = [registry]
  const refunds = new Counter({ name: 'quota_refunds_total', help: 'Units given back for failed captures.', registers })
  const settled = new Counter({ name: 'quota_settled_total', help: 'Reservations of ended gateways that were settled.', registers })
  const returned = new Counter({ name: 'quota_settled_units_total', help: 'Units that went back with them.', registers })
  const charges = new Counter({
    name: 'quota_charges_total',
    help: 'Screenshots charged at their claim, by outcome.',
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
