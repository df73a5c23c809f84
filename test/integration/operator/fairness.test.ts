import t from 'tap'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Plan } from '../../../crds/src/kinds/account.ts'
import { ESTIMATED_TIME } from '../../../crds/src/records/record.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { QUANTUM } from '../../../operator/src/scheduling/fair-queue.ts'
import { withPlane } from '../../scenarios/plane/stage/plane.ts'
import { eventually } from '../../support/eventually.ts'
import { isFullLength } from '../../support/length.ts'
import { askBatch, askBatches, askOne, LONG_MILLISECONDS, openFairnessStage } from './fairness-stage.ts'

// Fairness between accounts: the real gateway, operator, API server and store as processes, with runners that take a given time. Only the order in which
// captures start is checked.

t.setTimeout(600_000)

const RUNNERS = 4
/** Captures that do not end before the test says so. */
const HELD_MILLISECONDS = 60_000

await withPlane(
  async (plane) => {
    const { stage, gateway, newCustomer, startBounded, setRunners, queued, drain } = await openFairnessStage(plane)
    const timesOf = async () => (await stage.fleet.ask({ times: true })).times

    await t.test('accounts of all plans get captures by their weights', async (t) => {
      // A pool of one has no last runner, which would leave the weights whenever this machine stops for two seconds.
      // test/unit/operator/scheduling/dispatcher.test.ts checks the weights with several runners.
      const runners = 1
      const captures = isFullLength ? 225 : 90
      const [batch, slack] = [50, 20]
      const plans = Object.entries(DEFAULT_PLANS).map(([plan, { weight }]) => ({ plan: plan as Plan, weight }))
      const sum = plans.reduce((total, { weight }) => total + weight, 0)
      const customers = await Promise.all(
        plans.map(async (each) => ({ ...each, customer: await newCustomer(`weights-${each.plan}`, each.plan) })),
      )
      await setRunners(runners, 50)
      const planOf = new Map<string, Plan>()
      await Promise.all(
        customers.map(async ({ plan, weight, customer }) => {
          // Each account has more queued screenshots than are evaluated.
          const names = await askBatches(gateway, customer, Math.ceil(((captures * weight) / sum + slack) / batch), batch)
          for (const name of names) planOf.set(name, plan)
        }),
      )
      const begunOf = async () => Object.entries(await timesOf()).filter(([name]) => planOf.has(name))
      // Accepted screenshots are queued only after the operator has seen them, so wait until its queue is complete.
      const isComplete = async () => (await queued()) + (await begunOf()).length + runners >= planOf.size
      await eventually('the queue of the operator is complete', isComplete, LONG_MILLISECONDS)
      const allWaitSince = Date.now()
      const first = await eventually(
        `${captures} captures were begun`,
        async () => {
          const begun = (await begunOf()).filter(([, at]) => at > allWaitSince)
          return begun.length >= captures && begun.toSorted(([, a], [, b]) => a - b).slice(0, captures)
        },
        LONG_MILLISECONDS,
      )
      // Without weights each would have the same. At the start and the end of the measurement an account may be a quantum ahead, and as many
      // captures are reserved as there are runners.
      t.strictSame(
        plans.map(({ weight }) => weight / sum),
        [1 / 15, 2 / 15, 4 / 15, 8 / 15],
      )
      for (const { plan, weight } of plans) {
        const [count, due] = [first.filter(([name]) => planOf.get(name) === plan).length, (captures * weight) / sum]
        t.ok(Math.abs(count - due) <= QUANTUM + runners, `${plan}: ${count} of ${due}`)
      }
      await drain()
    })

    await t.test('single screenshots wait for at most two captures behind batches of another account', async (t) => {
      const flood = await newCustomer('waits-flood', 'growth')
      const singles = await Promise.all([0, 1, 2].map((n) => newCustomer(`waits-single-${n}`, 'growth')))
      await setRunners(RUNNERS, HELD_MILLISECONDS)
      const whenSeen = (count: number) =>
        eventually(`the operator has seen ${count} screenshots`, async () => (await queued()) + (await stage.fleet.ask({})).begun >= count)
      await askBatches(gateway, flood, 1, 100)
      await whenSeen(100)
      const replies = await Promise.all(singles.map((customer) => askOne(gateway, customer)))
      await whenSeen(100 + singles.length)
      const released = Date.now()
      await stage.fleet.ask({ captureMilliseconds: 200 })
      for (const { status, body } of replies) {
        t.equal(status, 202)
        const name = toObjectName(body.id ?? '')
        const times = await eventually(`${name} is captured`, async () => {
          const times = await timesOf()
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
      const bounded = await startBounded(150, 100)
      const flood = await newCustomer('bounds-flood', 'scale')
      const others = await Promise.all(Array.from({ length: 20 }, (_, n) => newCustomer(`bounds-other-${n}`, 'free')))
      // None finishes during the test.
      await setRunners(1, 600_000)
      const mine = async () => (await stage.screenshots.listAll()).filter(({ spec }) => spec.accountName === flood.name).length
      for (let size = 100; size > 0; ) {
        const { status } = await (size === 1 ? askOne(bounded, flood) : askBatch(bounded, flood, size))
        if (status === 503) size = Math.floor(size / 2)
        else if (status !== 202) throw new Error(`a create of the flood returned ${status}`)
      }
      const before = await mine()
      const refusal = await askOne(bounded, flood)
      t.match(refusal, { status: 503, retryAfter: /^\d+$/, body: { error: { code: 'QUEUE_FULL' } } })
      t.strictSame([before, await mine()], [101, 101], 'one is being captured, a hundred are queued')
      const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => askOne(bounded, others[n % others.length]!, n)))
      t.strictSame([...new Set(replies.map(({ status }) => status))], [202])
    })
  },
  { fsync: false },
)
