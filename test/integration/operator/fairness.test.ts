import t from 'tap'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { ESTIMATED_TIME } from '../../../crds/src/records/record.ts'
import { QUANTUM } from '../../../operator/src/scheduling/fair-queue.ts'
import { askBatches, askOne, askPatiently, openFairnessStage } from '../../scenarios/plane/fairness/fairness-stage.ts'
import { measureBounds, measureWeights } from '../../scenarios/plane/fairness/scenes.ts'
import { withPlane } from '../../scenarios/plane/stage/plane.ts'
import { eventually } from '../../support/eventually.ts'
import { isFullLength } from '../../support/length.ts'

// Fairness between accounts: the real gateway, operator, API server and store as processes, with runners that take a given time. `npm run
// bench -- --only fairness` runs the same at full size and prints times; this test checks only the order in which captures start.

t.setTimeout(600_000)

const RUNNERS = 4
/** Captures that do not end before the test says so. */
const HELD_MILLISECONDS = 60_000

await withPlane(
  async (stage) => {
    const fairnessStage = await openFairnessStage(stage)

    await t.test('accounts of all plans get captures by their weights', async (t) => {
      // A pool of one has no last runner, which would leave the weights whenever this machine stops for two seconds.
      // test/unit/operator/scheduling/dispatcher.test.ts checks the weights with several runners.
      const runners = 1
      const captures = isFullLength ? 225 : 90
      const shares = await measureWeights(fairnessStage, { captures, runners, captureMilliseconds: 50, batch: 50, slack: 20 })
      // Without weights each would have the same. At the start and the end of the measurement an account may be a quantum ahead, and as many
      // captures are reserved as there are runners.
      t.strictSame(
        shares.map(({ due }) => due),
        [1, 2, 4, 8].map((weight) => (captures * weight) / 15),
      )
      for (const { plan, captures, due } of shares) t.ok(Math.abs(captures - due) <= QUANTUM + runners, `${plan}: ${captures} of ${due}`)
      await fairnessStage.drain()
    })

    await t.test('single screenshots wait for at most two captures behind batches of another account', async (t) => {
      const { stage, gateway, newCustomer, setRunners, queued, drain } = fairnessStage
      const flood = await newCustomer('waits-flood', 'growth')
      const singles = await Promise.all([0, 1, 2].map((n) => newCustomer(`waits-single-${n}`, 'growth')))
      await setRunners(RUNNERS, HELD_MILLISECONDS)
      const state = () => stage.fleet.ask({ times: true })
      const whenSeen = (count: number) =>
        eventually(`the operator has seen ${count} screenshots`, async () => (await queued()) + (await state()).begun >= count)
      await askBatches(gateway.url, flood, 1)
      await whenSeen(100)
      const replies = await Promise.all(singles.map((customer) => askPatiently(() => askOne(gateway.url, customer))))
      await whenSeen(100 + singles.length)
      const released = Date.now()
      await stage.fleet.ask({ captureMilliseconds: 200 })
      for (const { status, body } of replies) {
        t.equal(status, 202)
        const name = toObjectName(body.id ?? '')
        const times = await eventually(`${name} is captured`, async () => {
          const { times } = await state()
          return times[name] !== undefined && times
        })
        const overtakenBy = Object.values(times).filter((at) => at > released && at < (times[name] ?? 0)).length
        t.ok(overtakenBy <= 2 * RUNNERS, `${overtakenBy} were started before it`)
        t.match(body.estimated_time, /^\d+-\d+s$/)
        t.not(body.estimated_time, ESTIMATED_TIME, 'captures have been measured by then')
      }
      await drain()
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
