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
    title:
      'Deliveries per second, and milliseconds from the time when the operator observes a result to the first attempt (targets: 1,000/s; +50)',
    head: ['round', 'per second', 'processor ms per delivery', 'connections', 'p50', 'p95', 'p95, one endpoint hangs', 'added', 'load'],
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
    title: 'Milliseconds from the runner’s report to the first attempt, through an API server (target: p95 250)',
    head: ['round', 'p50', 'p95', 'load'],
    rows: [...samples.map((sample) => cells(String(sample.round), [sample])), cells('median', samples)],
  }
}
