import { median, percentile } from '../report/statistics.ts'
import { type Table, toCell, toDifference } from '../report/table.ts'
import type { DeliverySample } from './deliver.ts'
import type { FromResultSample } from './from-result.ts'

// Formats the results of the webhook benchmark as tables. Pure.

const p95 = (values: readonly number[]): number => percentile(values, 95)

/** One row per round, and the medians of the rounds. */
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
    title: 'Deliveries a second, and milliseconds from the operator’s seeing a result to its first attempt (bars: 1,000/s; +50)',
    head: ['round', 'a second', 'processor ms each', 'connections', 'p50', 'p95', 'p95, one hangs', 'added', 'load'],
    rows: [...samples.map((sample) => cells(String(sample.round), [sample])), cells('median', samples)],
  }
}

/** One row per round, and the medians of the rounds. */
export function fromResultTable(samples: readonly FromResultSample[]): Table {
  const cells = (round: string, of: readonly FromResultSample[]): string[] => [
    round,
    toCell(median(of.map(({ milliseconds }) => median(milliseconds)))),
    toCell(median(of.map(({ milliseconds }) => p95(milliseconds)))),
    median(of.map(({ load }) => load)).toFixed(1),
  ]
  return {
    title: 'Milliseconds from a runner’s sending its result to the first attempt, through an API server (bar: p95 250)',
    head: ['round', 'p50', 'p95', 'load'],
    rows: [...samples.map((sample) => cells(String(sample.round), [sample])), cells('median', samples)],
  }
}
