import type { Plan } from '../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { eventually } from '../../support/eventually.ts'
import { askBatches } from './ask.ts'
import type { FairnessStage } from './fairness-stage.ts'

/** Captures of the accounts of each plan while all have queued screenshots. */
export interface Share {
  plan: Plan
  weight: number
  captures: number
  /** Expected captures by weight. */
  due: number
}

export interface WeightsOrder {
  captures: number
  runners: number
  captureMilliseconds: number
  /** Size of the batches. */
  batch: number
  /** Captures per account before the last batch is accepted. */
  slack: number
}

const LONG_MILLISECONDS = 300_000

/** One account per plan, each with more queued screenshots than are evaluated. */
export async function measureWeights(
  fairnessStage: FairnessStage,
  { captures, runners, captureMilliseconds, batch, slack }: WeightsOrder,
): Promise<Share[]> {
  const { stage, gateway, newCustomer, setRunners, queued } = fairnessStage
  const plans = Object.entries(DEFAULT_PLANS).map(([plan, { weight }]) => ({ plan: plan as Plan, weight }))
  const sum = plans.reduce((total, { weight }) => total + weight, 0)
  const customers = await Promise.all(
    plans.map(async (each) => ({ ...each, customer: await newCustomer(`weights-${each.plan}`, each.plan) })),
  )
  await setRunners(runners, captureMilliseconds)
  const planOf = new Map<string, Plan>()
  await Promise.all(
    customers.map(async ({ plan, weight, customer }) => {
      const names = await askBatches(gateway.url, customer, Math.ceil(((captures * weight) / sum + slack) / batch), batch)
      for (const name of names) planOf.set(name, plan)
    }),
  )
  const begunOf = async () => Object.entries((await stage.fleet.send({ times: true })).times).filter(([name]) => planOf.has(name))
  // Accepted screenshots are queued only after the operator has seen them, so wait until its queue is complete.
  await eventually(
    'the queue of the operator is complete',
    async () => (await queued()) + (await begunOf()).length + runners >= planOf.size,
    LONG_MILLISECONDS,
  )
  const allWaitSince = Date.now()
  const looked = await eventually(
    `${captures} captures were begun`,
    async () => {
      const begun = (await begunOf()).filter(([, at]) => at > allWaitSince)
      return begun.length >= captures && begun.toSorted(([, a], [, b]) => a - b).slice(0, captures)
    },
    LONG_MILLISECONDS,
  )
  return plans.map(({ plan, weight }) => ({
    plan,
    weight,
    captures: looked.filter(([name]) => planOf.get(name) === plan).length,
    due: (captures * weight) / sum,
  }))
}
