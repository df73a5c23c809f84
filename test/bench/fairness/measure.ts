import { withStage } from '../../soak/stage/stage.ts'
import type { Table } from '../report/table.ts'
import { measureBounds } from './bounds.ts'
import { type FairnessStage, openFairnessStage } from './fairness-stage.ts'
import { boundsTable, scalingTable, waitsTable, weightsTable } from './report.ts'
import { measureScaling } from './scaling.ts'
import { measureWaits } from './waits.ts'
import { measureWeights } from './weights.ts'

const WAITS = { batches: 20, singles: 3, each: 20, runners: 4, captureMilliseconds: 1_000 }
const WEIGHTS = { captures: 500, runners: 8, captureMilliseconds: 250, batch: 100, slack: 60 }
const SCALING = { burst: 100, captureMilliseconds: 500, maxPods: 10 }
const BOUNDS = { maxQueued: 1_100, maxQueuedPerAccount: 1_000, others: 100 }

type Scene = [what: string, measure: (fairnessStage: FairnessStage) => Promise<Table>]

const SCENES: readonly Scene[] = [
  [
    `single screenshots behind ${WAITS.batches} batches`,
    async (fairnessStage) => waitsTable(await measureWaits(fairnessStage, WAITS), WAITS),
  ],
  ['one account at its bound', async (fairnessStage) => boundsTable(await measureBounds(fairnessStage, BOUNDS))],
  [`weights over ${WEIGHTS.captures} captures`, async (fairnessStage) => weightsTable(await measureWeights(fairnessStage, WEIGHTS))],
  [
    `a burst of ${SCALING.burst}, without scaling and with it`,
    async (fairnessStage) => scalingTable(await measureScaling(fairnessStage, SCALING), SCALING),
  ],
]

/** Measures all scenes of fairness. Each has its own stage, because finishing the work of the previous scene would take longer than a new start. */
export async function measureFairness(progress: (line: string) => void, show: (table: Table) => void): Promise<void> {
  for (const [what, measure] of SCENES) {
    progress(what)
    show(await withStage(async (stage) => measure(await openFairnessStage(stage)), { fsync: false }))
  }
}
