import { median } from '../report/statistics.ts'
import { type Table, toCell } from '../report/table.ts'
import type { GrowthSample } from './growth.ts'
import type { EngineFigures, Lane } from './measure.ts'
import type { TallSample } from './tall.ts'

// Formats the results of the engine benchmark as tables. Pure.

const RUNNER = 'runner'
const BARE = 'bare loop'
const LIBRARY = 'bare loop, page.screenshot()'

/** Captures per second of every contender. */
export function rateTable({ lanes, load }: EngineFigures): Table {
  return {
    title: 'Captures per second on the corpus (medians of the rounds; load of the machine: '.concat(median(load).toFixed(1), ')'),
    head: ['contender', 'at once', 'per second', 'least', 'most', 'processor ms per capture', 'differing pictures'],
    rows: lanes.map(({ name, lanes: count, rates, processor, odd, pictures }) => [
      name,
      String(count),
      median(rates).toFixed(2),
      Math.min(...rates).toFixed(2),
      Math.max(...rates).toFixed(2),
      toCell(median(processor.filter(Number.isFinite))),
      `${odd} of ${pictures}`,
    ]),
  }
}

/** Limits for the runner. Ratios compare values of the same round; the median of the ratios counts. */
export function barTable({ lanes }: EngineFigures): Table {
  const single = ratios(find(lanes, RUNNER, 1), find(lanes, BARE, 1))
  const many = ratios(
    lanes.filter(({ name }) => name === RUNNER),
    lanes.filter(({ name }) => name === BARE),
  )
  const library = ratios(find(lanes, RUNNER, 1), find(lanes, LIBRARY, 1))
  const row = (shows: string, values: readonly number[], bar: number): string[] => [
    shows,
    values.map((value) => value.toFixed(2)).join(' '),
    median(values).toFixed(2),
    `≥ ${bar}`,
    median(values) >= bar ? 'yes' : '**no**',
  ]
  return {
    title: 'Ratio of a runner (with guard, blank check and upload) to the loop of the same round',
    head: ['comparison', 'by round', 'median', 'target', 'met'],
    rows: [
      row('one at a time, to raw DevTools', single, 1.1),
      row('best of 1, 2, 4, to the best of 1, 2, 4 of raw DevTools', many, 0.95),
      row('one at a time, to page.screenshot()', library, 1.3),
    ],
  }
}

/** Durations of a runner's steps, with one and more pages at a time. */
export function engineStageTable({ answers }: EngineFigures): Table {
  const names = [...new Set(answers.flatMap(({ timings }) => Object.keys(timings)))]
  const rows = names.map((name) => [name, toCell(median(answers.map(({ timings }) => timings[name] ?? 0)))])
  return {
    title: 'Duration of a runner’s steps (medians over all captures, ms)',
    head: ['step', 'p50'],
    rows: [...rows, ['all', toCell(median(answers.map(({ milliseconds }) => milliseconds)))]],
  }
}

const find = (lanes: readonly Lane[], name: string, count: number): Lane[] =>
  lanes.filter((lane) => lane.name === name && lane.lanes === count)

/** Ratio of the best values of each round. */
function ratios(ours: readonly Lane[], theirs: readonly Lane[]): number[] {
  const best = (of: readonly Lane[], round: number) => Math.max(...of.map(({ rates }) => rates[round] ?? Number.NaN))
  return (ours[0]?.rates ?? []).map((_, round) => best(ours, round) / best(theirs, round))
}

/** Mebibytes that browser and runner may use together for a page of 50,000 pixels. */
const TALL_MEBIBYTES = 1.1 * 1_024

/** Steps that take long on a tall page. */
const TALL_STEPS = ['navigate', 'sweep', 'screenshot', 'upload']

/** Time and memory for tall pages. */
export const tallTables = (samples: readonly TallSample[]): Table[] => [
  {
    title: 'Full pages by height: duration of the steps (medians, ms)',
    head: ['height', 'format', 'whole picture', 'all', ...TALL_STEPS, 'processor'],
    rows: samples.map(({ height, format, isWhole, milliseconds, timings, processorMilliseconds }) => {
      const cells = [milliseconds, ...TALL_STEPS.map((step) => timings[step] ?? 0), processorMilliseconds].map(toCell)
      return [String(height), format, isWhole ? 'yes' : '**no**', ...cells]
    }),
  },
  {
    title: 'Full pages by height: memory of the runner with both browsers (MiB; target: 1,126)',
    head: ['height', 'format', 'at rest', 'at most', 'runner only', 'met'],
    rows: samples.map(({ height, format, rest, runner, peak }) => [
      String(height),
      format,
      toCell(rest),
      toCell(peak),
      toCell(runner),
      peak <= TALL_MEBIBYTES ? 'yes' : '**no**',
    ]),
  },
]

/** Memory over many captures. It counts as flat if the last third uses at most one tenth more than the second. */
export function growthTables(samples: readonly GrowthSample[]): Table[] {
  return samples.map(({ title, points }) => {
    const third = Math.ceil(points.length / 3)
    const [middle = Number.NaN, last = Number.NaN] = [points.slice(third, 2 * third), points.slice(2 * third)].map((part) =>
      median(part.map(({ all }) => all)),
    )
    const change = `${middle.toFixed(0)} MiB in the second third, ${last.toFixed(0)} in the last: ${last <= middle * 1.1 ? 'flat' : 'growing'}`
    return {
      title: `Memory over captures of the corpus, ${title} (${change})`,
      head: ['captures', 'runner', 'with both browsers'],
      rows: points.map(({ captures, runner, all }) => [String(captures), toCell(runner), toCell(all)]),
    }
  })
}
