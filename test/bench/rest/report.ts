import { median, percentile } from '../report/statistics.ts'
import { type Table, toCell } from '../report/table.ts'
import { BATCH_SIZE, type CreateSample } from './creates.ts'
import type { FloodSample } from './floods.ts'
import { rateOf } from './load.ts'
import type { LoadResult } from './load-client.ts'
import type { GatewayMemory } from './memory.ts'
import { PARTS, totalOf } from './processor.ts'
import type { ReadSample } from './reads.ts'

// Formats the results of the REST benchmark as tables. Pure.

const WAYS = ['single', 'batch', 'batches'] as const
const NAMES = {
  unwatched: 'unwatched bare create',
  bare: 'bare create',
  single: 'POST',
  batch: 'batch of 100',
  batches: '4 concurrent batches',
} as const
const eachOf = (way: keyof typeof NAMES): number => (way === 'batch' || way === 'batches' ? BATCH_SIZE : 1)
const toGateways = (count: number): string => (count === 1 ? 'one gateway' : `${count} gateways`)

const TITLES = {
  bare: 'Screenshots created per second, and the ratio to the bare creates of the same round (targets: POST 0.4, batches 0.8)',
  unwatched: 'Screenshots created per second, and the ratio to bare creates in a namespace without watches',
}

/** Screenshots per second with each method, compared with the bare creates of the same round. */
export function createsTable(samples: readonly CreateSample[], base: keyof typeof TITLES = 'bare'): Table {
  const counts = [...new Set(samples.map(({ gateways }) => gateways))]
  const ofBare = (sample: CreateSample, way: (typeof WAYS)[number]) => rateOf(sample[way], eachOf(way)) / rateOf(sample[base])
  const cells = (round: string, rounds: readonly CreateSample[]): string[] => [
    round,
    toCell(median(rounds.map((sample) => rateOf(sample[base])))),
    ...WAYS.flatMap((way) => [
      toCell(median(rounds.map((sample) => rateOf(sample[way], eachOf(way))))),
      median(rounds.map((sample) => ofBare(sample, way))).toFixed(2),
    ]),
    median(rounds.map(({ load }) => load)).toFixed(1),
  ]
  return {
    title: TITLES[base],
    head: ['through', 'round', NAMES[base], ...WAYS.flatMap((way) => [NAMES[way], 'to bare']), 'load'],
    rows: counts.flatMap((count) => {
      const rounds = samples.filter(({ gateways }) => gateways === count)
      const named = (row: string[]) => [toGateways(count), ...row]
      return [...rounds.map((sample) => named(cells(String(sample.round), [sample]))), named(cells('median', rounds))]
    }),
  }
}

/** Request durations: medians of the rounds. */
export function createTimesTable(samples: readonly CreateSample[]): Table {
  const counts = [...new Set(samples.map(({ gateways }) => gateways))]
  return {
    title: 'Duration of create requests (ms; medians of the rounds; target: a batch of 100 within 1,500)',
    head: ['request', 'through', 'p50', 'p99'],
    rows: counts.flatMap((count) => {
      const rounds = samples.filter(({ gateways }) => gateways === count)
      return (['unwatched', 'bare', ...WAYS] as const).map((way) => [
        NAMES[way],
        way === 'unwatched' ? '' : toGateways(count),
        ...timesOf(rounds.map((sample) => sample[way])),
      ])
    }),
  }
}

/** Processor time per screenshot, and the share of bare creates: the ratio that applies if the processor is the bottleneck. */
export function processorTable(samples: readonly CreateSample[]): Table {
  const counts = [...new Set(samples.map(({ gateways }) => gateways))]
  const middle = (rounds: readonly CreateSample[], pick: (sample: CreateSample) => number) => median(rounds.map(pick)).toFixed(2)
  return {
    title: 'Processor time per screenshot (ms; medians of the rounds)',
    head: ['request', 'through', ...PARTS, 'all', 'bare / this'],
    rows: counts.flatMap((count) => {
      const rounds = samples.filter(({ gateways }) => gateways === count)
      return (['unwatched', 'bare', ...WAYS] as const).map((way) => [
        NAMES[way],
        way === 'unwatched' ? '' : toGateways(count),
        ...PARTS.map((part) => middle(rounds, (sample) => sample[way].processor[part])),
        middle(rounds, (sample) => totalOf(sample[way].processor)),
        middle(rounds, (sample) => totalOf(sample.bare.processor) / totalOf(sample[way].processor)),
      ])
    }),
  }
}

const timesOf = (answers: readonly LoadResult[]): string[] =>
  [50, 99].map((percent) => toCell(median(answers.map(({ milliseconds }) => percentile(milliseconds, percent)))))

/** Reads of finished records. */
export function readsTable(samples: readonly ReadSample[]): Table {
  const row = (round: string, rounds: readonly ReadSample[]): string[] => [
    round,
    toCell(median(rounds.map(({ reads }) => rateOf(reads)))),
    ...timesOf(rounds.map(({ reads }) => reads)),
    median(rounds.map(({ load }) => load)).toFixed(1),
  ]
  return {
    title: 'GET of finished records through one gateway (target: 2,000 per second)',
    head: ['round', 'per second', 'p50 (ms)', 'p99 (ms)', 'load'],
    rows: [...samples.map((sample) => row(String(sample.round), [sample])), row('median', samples)],
  }
}

/** Resources that a rejected create might write. */
const WATCHED = ['screenshots', 'accountusages']

/** Creates over a limit, and the writes of the API server that they caused. */
export function floodsTable(samples: readonly FloodSample[]): Table {
  const others = ({ writes }: FloodSample): string =>
    [...writes].flatMap(([resource, count]) => (WATCHED.includes(resource) ? [] : [`${count} ${resource}`])).join(', ')
  return {
    title: 'Rejected creates above a limit, and the writes of the API server meanwhile (target: none)',
    head: ['limit', 'rejected', 'per second', 'p50 (ms)', 'p99 (ms)', ...WATCHED, 'other writes'],
    rows: samples.map((sample) => [
      sample.limit,
      String(sample.refused.milliseconds.length),
      toCell(rateOf(sample.refused)),
      ...timesOf([sample.refused]),
      ...WATCHED.map((resource) => String(sample.writes.get(resource) ?? 0)),
      others(sample),
    ]),
  }
}

/** Memory of a gateway with many records. */
export function gatewayMemoryTable(samples: readonly GatewayMemory[]): Table {
  return {
    title: 'Memory of one gateway (MiB; target: 300 resident)',
    head: ['when', 'resident', 'peak'],
    rows: samples.map(({ when, residentMebibytes, peakMebibytes }) => [when, toCell(residentMebibytes), toCell(peakMebibytes)]),
  }
}
