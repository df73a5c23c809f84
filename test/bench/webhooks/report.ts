import { median, percentile } from '../statistics.ts'
import { type Table, toCell, toDifference } from '../table.ts'
import type { DeliverySample } from './deliver.ts'

// What was measured of webhooks, as a table. Pure.

const p95 = (values: readonly number[]): number => percentile(values, 95)

/** One row a round, and the medians of the rounds. */
export function deliveriesTable(samples: readonly DeliverySample[]): Table {
  const cells = (round: string, of: readonly DeliverySample[]): string[] => {
    const middle = (pick: (sample: DeliverySample) => number) => median(of.map(pick))
    return [
      round,
      toCell(middle(({ perSecond }) => perSecond)),
      middle(({ processorMilliseconds }) => processorMilliseconds).toFixed(2),
      toCell(middle(({ connections }) => connections)),
      toCell(middle(({ alone }) => median(alone))),
      toCell(middle(({ alone }) => p95(alone))),
      toCell(middle(({ besideHanging }) => p95(besideHanging))),
      toDifference(middle(({ alone, besideHanging }) => p95(besideHanging) - p95(alone))),
      middle(({ load }) => load).toFixed(1),
    ]
  }
  return {
    title: 'Webhooks: deliveries a second, and milliseconds from a result to its first attempt (bars: 1,000/s; p95 250; +50)',
    head: ['round', 'a second', 'processor ms each', 'connections', 'p50', 'p95', 'p95, one hangs', 'added', 'load'],
    rows: [...samples.map((sample) => cells(String(sample.round), [sample])), cells('median', samples)],
  }
}
