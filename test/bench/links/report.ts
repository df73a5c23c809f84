import { median, percentile } from '../report/statistics.ts'
import { type Table, toCell } from '../report/table.ts'
import { rateOf } from '../rest/load.ts'
import { LINK_REQUESTS, type LinkRequest, type LinkRound } from './measure.ts'

const NAMES: Readonly<Record<LinkRequest, string>> = {
  GET: 'GET /take',
  HEAD: 'HEAD /take',
  304: 'GET /take with If-None-Match (304)',
  'POST /screenshots': 'POST /screenshots',
}

/** Requests for a cached picture, next to creations of screenshots: medians of the rounds. */
export function linksTable(rounds: readonly LinkRound[]): Table {
  const row = (name: LinkRequest): string[] => {
    const samples = rounds.map(({ requests }) => requests[name])
    const middle = (pick: (sample: (typeof samples)[number]) => number): number => median(samples.map((sample) => pick(sample)))
    return [
      NAMES[name],
      toCell(middle((sample) => rateOf(sample))),
      ...[50, 99].map((percent) => middle(({ milliseconds }) => percentile(milliseconds, percent)).toFixed(1)),
      middle(({ processor }) => processor.gateways).toFixed(2),
      middle(({ processor }) => processor.clients).toFixed(2),
      median(rounds.map(({ load }) => load)).toFixed(1),
    ]
  }
  return {
    title:
      'A cached picture of 50 KiB by signed link, through one gateway (target: 1,500 GET per second, p99 50 ms; medians of the rounds)',
    head: ['request', 'per second', 'p50 (ms)', 'p99 (ms)', 'gateway processor (ms)', 'clients processor (ms)', 'load'],
    rows: LINK_REQUESTS.map(row),
  }
}
