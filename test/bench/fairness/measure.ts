import { withStage } from '../../soak/stage/stage.ts'
import type { Table } from '../table.ts'
import { measureBounds } from './bounds.ts'
import { openMarket } from './market.ts'
import { boundsTable, scalingTable, waitsTable, weightsTable } from './report.ts'
import { measureScaling } from './scaling.ts'
import { measureWaits } from './waits.ts'
import { measureWeights } from './weights.ts'

const WAITS = { batches: 20, singles: 3, each: 20, runners: 4, captureMilliseconds: 1_000 }
const WEIGHTS = { captures: 500, runners: 8, captureMilliseconds: 250, batch: 100, slack: 60 }
const SCALING = { burst: 100, captureMilliseconds: 500, maxPods: 10 }
const BOUNDS = { maxQueued: 1_100, maxQueuedPerAccount: 1_000, others: 100 }

/** All that must be shown of fairness, on one stage. */
export function measureFairness(tell: (line: string) => void, show: (table: Table) => void): Promise<void> {
  return withStage(async (stage) => {
    const market = await openMarket(stage)
    tell(`a burst of ${SCALING.burst}, without scaling and with it`)
    show(scalingTable(await measureScaling(market, SCALING), SCALING))
    tell(`weights over ${WEIGHTS.captures} captures`)
    show(weightsTable(await measureWeights(market, WEIGHTS)))
    await market.drain()
    tell(`single screenshots behind ${WAITS.batches} batches`)
    show(waitsTable(await measureWaits(market, WAITS), WAITS))
    await market.drain()
    tell('one account at its bound')
    show(boundsTable(await measureBounds(market, BOUNDS)))
  })
}
