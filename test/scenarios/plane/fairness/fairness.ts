import { scenario } from '../../harness/scenario.ts'
import { summarize } from '../../harness/statistics.ts'
import { type Table, tableOf } from '../../harness/table.ts'
import { plane, withPlane } from '../stage/plane.ts'
import { type FairnessStage, openFairnessStage } from './fairness-stage.ts'
import { measureBounds, measureScaling, measureWaits, measureWeights, type Wait } from './scenes.ts'

const WAITS = { batches: 20, singles: 3, each: 20, runners: 4, captureMilliseconds: 1_000 }
const WEIGHTS = { captures: 500, runners: 8, captureMilliseconds: 250, batch: 100, slack: 60 }
const SCALING = { burst: 100, captureMilliseconds: 500, maxPods: 10 }
const BOUNDS = { maxQueued: 1_100, maxQueuedPerAccount: 1_000, others: 100 }

type Scene = (fairnessStage: FairnessStage) => Promise<Table>

/** Waits of single screenshots behind batches. */
const waits: Scene = async (fairnessStage) => {
  const all = await measureWaits(fairnessStage, WAITS)
  const { batches, runners, captureMilliseconds } = WAITS
  const groups: [string, readonly Wait[]][] = [...Map.groupBy(all, ({ account }) => account), ['all', all]]
  const p95Of = (of: readonly Wait[]) => summarize(of.map(({ milliseconds }) => milliseconds)).p95
  const load = `behind ${batches} batches of 100 of another account; ${runners} runners, ${captureMilliseconds} ms per capture`
  return tableOf(`Wait for a runner (ms) ${load} (target: p95 within 2 capture times)`, groups, {
    account: ([name]) => name,
    screenshots: ([, of]) => of.length,
    p50: ([, of]) => summarize(of.map(({ milliseconds }) => milliseconds)).p50,
    p95: ([, of]) => p95Of(of),
    'p95 in capture times': ([, of]) => (p95Of(of) / captureMilliseconds).toFixed(2),
    'most captures started meanwhile': ([, of]) => Math.max(...of.map(({ overtakenBy }) => overtakenBy)),
  })
}

/** Responses to other accounts while one account is at its limit. */
const bounds: Scene = async (fairnessStage) => {
  const { refusal, before, after, others } = await measureBounds(fairnessStage, BOUNDS)
  const refused = `${refusal.status} ${refusal.body.error?.code}, Retry-After ${refusal.retryAfter}; ${after - before} written`
  const counts = Object.entries(others).map(([status, count]) => `${count} × ${status}`)
  return {
    title: 'One account at the limit of its queue (target: others get no 503, and a rejected create writes nothing)',
    head: ['account', 'responses'],
    rows: [
      ['the account at its limit', refused],
      ['others', counts.join(', ')],
    ],
  }
}

/** Captures of each plan. */
const weights: Scene = async (fairnessStage) => {
  const shares = await measureWeights(fairnessStage, WEIGHTS)
  const total = shares.reduce((sum, { captures }) => sum + captures, 0)
  const title = `Captures of accounts of all plans with queued screenshots, over ${total} captures (target: within 10 % of the weight)`
  return tableOf(title, shares, {
    plan: ({ plan }) => plan,
    weight: ({ weight }) => weight,
    captures: ({ captures }) => captures,
    'expected by weight': ({ due }) => due.toFixed(1),
    deviation: ({ captures, due }) => `${(((captures - due) / due) * 100).toFixed(1)} %`,
  })
}

/** Duration of a burst with and without scaling. */
const scaling: Scene = async (fairnessStage) => {
  const times = await measureScaling(fairnessStage, SCALING)
  const { burst, captureMilliseconds } = SCALING
  const title = `A burst of ${burst}, ${captureMilliseconds} ms per capture, from one warm runner (target: sooner with scaling)`
  return tableOf(title, times, {
    'at most': ({ maxPods }) => (maxPods === 1 ? '1 runner' : `${maxPods} runners`),
    'until the last completion': ({ milliseconds }) => `${milliseconds.toFixed(0)} ms`,
  })
}

/** Each scene has its own plane, because finishing the work of the previous scene would take longer than a new start. */
export const fairness = scenario({
  name: 'fairness',
  shows: 'how long accounts wait behind batches of others, with simulated runners',
  stage: { ...plane({ fsync: false }), open: async () => undefined },
  run: async ({ progress, table }) => {
    for (const [name, measure] of Object.entries({ waits, bounds, weights, scaling })) {
      progress(`fairness: ${name}`)
      table(await withPlane(async (stage) => measure(await openFairnessStage(stage)), { fsync: false }))
    }
  },
})
