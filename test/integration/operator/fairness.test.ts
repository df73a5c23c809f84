import t from 'tap'
import { ESTIMATED_TIME } from '../../../crds/src/records/record.ts'
import { QUANTUM } from '../../../operator/src/scheduling/fair-queue.ts'
import { measureBounds } from '../../bench/fairness/bounds.ts'
import { openFairnessStage } from '../../bench/fairness/fairness-stage.ts'
import { measureWaits } from '../../bench/fairness/waits.ts'
import { measureWeights } from '../../bench/fairness/weights.ts'
import { withStage } from '../../soak/stage/stage.ts'

// Fairness between accounts: the real gateway, operator, API server and store as processes, with runners that take a given time. `npm run
// bench -- --only fairness` runs the same at full size and prints times; this test checks only the order in which captures start.

t.setTimeout(600_000)

const RUNNERS = 4

await withStage(
  async (stage) => {
    const fairnessStage = await openFairnessStage(stage)

    await t.test('accounts of all plans get runners by their weights', async (t) => {
      const shares = await measureWeights(fairnessStage, {
        captures: 225,
        runners: RUNNERS,
        captureMilliseconds: 200,
        batch: 50,
        slack: 30,
      })
      // Without weights each would have 56. At the start and the end of the measurement an account may be a quantum ahead, and as many
      // captures are reserved as there are runners.
      t.strictSame(
        shares.map(({ due }) => due),
        [15, 30, 60, 120],
      )
      for (const { plan, captures, due } of shares) t.ok(Math.abs(captures - due) <= QUANTUM + RUNNERS, `${plan}: ${captures} of ${due}`)
      await fairnessStage.drain()
    })

    await t.test('single screenshots wait for at most two captures behind batches of another account', async (t) => {
      const waits = await measureWaits(fairnessStage, { batches: 1, singles: 3, each: 2, runners: RUNNERS, captureMilliseconds: 1_000 })
      for (const { account, overtakenBy, estimatedTime } of waits) {
        t.ok(overtakenBy <= 2 * RUNNERS, `${account}: ${overtakenBy} were started before it`)
        t.match(estimatedTime, /^\d+-\d+s$/)
        t.not(estimatedTime, ESTIMATED_TIME, 'captures have been measured by then')
      }
      await fairnessStage.drain()
    })

    await t.test('an account at its queue limit gets 503 with Retry-After, and other accounts are accepted', async (t) => {
      const { refusal, before, after, others } = await measureBounds(fairnessStage, {
        maxQueued: 150,
        maxQueuedPerAccount: 100,
        others: 50,
      })
      t.match(refusal, { status: 503, retryAfter: /^\d+$/, body: { error: { code: 'QUEUE_FULL' } } })
      t.strictSame([before, after], [101, 101], 'one is being captured, a hundred are queued')
      t.strictSame(others, { 202: 50 })
    })
  },
  { fsync: false },
)
