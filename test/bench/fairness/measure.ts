import { withStage } from '../../soak/stage/stage.ts'
import type { Table } from '../report/table.ts'
import { measureBounds } from './bounds.ts'
import { type Market, openMarket } from './market.ts'
import { boundsTable, scalingTable, waitsTable, weightsTable } from './report.ts'
import { measureScaling } from './scaling.ts'
import { measureWaits } from './waits.ts'
import { measureWeights } from './weights.ts'

const WAITS = { batches: 20, singles: 3, each: 20, runners: 4, captureMilliseconds: 1_000 }
const WEIGHTS = { captures: 500, runners: 8, captureMilliseconds: 250, batch: 100, slack: 60 }
const SCALING = { burst: 100, captureMilliseconds: 500, maxPods: 10 }
const BOUNDS = { maxQueued: 1_100, maxQueuedPerAccount: 1_000, others: 100 }

type Scene = [what: string, measure: (market: Market) => Promise<Table>]

const SCENES: readonly Scene[] = [
  [`single screenshots behind ${WAITS.batches} batches`, async (market) => waitsTable(await measureWaits(market, WAITS), WAITS)],
  ['one account at its bound', async (market) => boundsTable(await measureBounds(market, BOUNDS))],
  [`weights over ${WEIGHTS.captures} captures`, async (market) => weightsTable(await measureWeights(market, WEIGHTS))],
  [
    `a burst of ${SCALING.burst}, without scaling and with it`,
    async (market) => scalingTable(await measureScaling(market, SCALING), SCALING),
  ],
]

/** All that must be shown of fairness. Each scene has a stage of its own: what the one before has left to do would take longer than to build it. */
export async function measureFairness(tell: (line: string) => void, show: (table: Table) => void): Promise<void> {
  for (const [what, measure] of SCENES) {
    tell(what)
    show(await withStage(async (stage) => measure(await openMarket(stage)), { fsync: false }))
  }
}
