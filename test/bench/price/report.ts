import { median } from '../report/statistics.ts'
import type { Table } from '../report/table.ts'
import type { Prices } from './measure.ts'
import { PROGRAMS } from './programs.ts'

type Price = Prices['rounds'][number]

const totalOf = (price: Price): number => Object.values(price).reduce((sum, used) => sum + used, 0)

const isIn = (program: string) => (of: Prices) => of.rounds.some((price) => price[program] !== undefined)

/** Milliseconds of one picture by program, a table for each number of pictures at a time. Ratios are medians of each round's. */
export function priceTables(all: readonly Prices[]): Table[] {
  return [...Map.groupBy(all, ({ lanes }) => lanes)].map(([lanes, prices]) => {
    const row = (name: string, of: (price: Price) => number) => [name, ...prices.map(({ rounds }) => median(rounds.map(of)).toFixed(0))]
    const releases = prices.filter(isIn('api-gateway'))
    const ratios = (of: readonly Prices[], to: Prices | undefined) =>
      prices.map((price) => (to && of.includes(price) ? ratioOf(price, to).toFixed(2) : ''))
    return {
      title: `Processor milliseconds of one picture above idle, ${lanes} at a time (medians of the rounds)`,
      head: ['program', ...prices.map(({ name }) => name)],
      rows: [
        ...PROGRAMS.filter((program) => prices.some(isIn(program))).map((program) => row(program, (price) => price[program] ?? 0)),
        row('all', totalOf),
        [
          'all, compared with the bare loop',
          ...ratios(
            prices,
            prices.find((of) => !releases.includes(of)),
          ),
        ],
        ...(releases.length > 1 ? [[`all, compared with ${releases[0]?.name}`, ...ratios(releases, releases[0])]] : []),
      ],
    }
  })
}

const ratioOf = (prices: Prices, to: Prices): number =>
  median(prices.rounds.map((price, round) => totalOf(price) / totalOf(to.rounds[round] ?? {})))
