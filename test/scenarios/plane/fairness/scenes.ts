import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Plan } from '../../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS } from '../../../../crds/src/usage/plans.ts'
import { eventually } from '../../../support/eventually.ts'
import type { FairnessStage } from './fairness-stage.ts'
import { askBatch, askBatches, askOne, askPatiently, type Customer, post, type Reply } from './fairness-stage.ts'

const LONG_MILLISECONDS = 300_000

/** Wait of one screenshot for a runner behind the batches of another account. */
export interface Wait {
  account: string
  milliseconds: number
  /** Captures of others that were started meanwhile. */
  overtakenBy: number
  /** Status of its create request. */
  estimatedTime: string
}

interface WaitsOrder {
  /** Batches of one account, with 100 screenshots each. */
  batches: number
  /** Accounts that create one screenshot after the other. */
  singles: number
  /** Screenshots per account. */
  each: number
  runners: number
  captureMilliseconds: number
}

/** One account has queued batches, and others create single screenshots one after the other. All have the same plan. */
export async function measureWaits(
  fairnessStage: FairnessStage,
  { batches, singles, each, runners, captureMilliseconds }: WaitsOrder,
): Promise<Wait[]> {
  const { stage, gateway, newCustomer, setRunners } = fairnessStage
  const flood = await newCustomer('waits-flood', 'growth')
  const others = await Promise.all(Array.from({ length: singles }, (_, n) => newCustomer(`waits-single-${n}`, 'growth')))
  await setRunners(runners, captureMilliseconds)
  await askBatches(gateway.url, flood, batches)
  const asked = await Promise.all(others.map((customer) => askInTurn(gateway.url, customer, each)))
  const { times } = await stage.fleet.ask({ times: true })
  return asked.flat().map(({ account, name, createdAt, startedAt, estimatedTime }) => {
    const begun = times[name] ?? Number.NaN
    const overtakenBy = Object.entries(times).filter(([other, at]) => other !== name && at > createdAt && at < begun).length
    return { account, milliseconds: startedAt - createdAt, overtakenBy, estimatedTime }
  })
}

interface SingleWait {
  account: string
  name: string
  createdAt: number
  startedAt: number
  estimatedTime: string
}

async function askInTurn(gatewayUrl: string, customer: Customer, count: number): Promise<SingleWait[]> {
  const asked: SingleWait[] = []
  for (let n = 0; n < count; n++) {
    const { status, body } = await post(`${gatewayUrl}/v1/screenshots?wait=25`, customer, { url: `https://example.com/${n}` })
    if (status !== 200) throw new Error(`a single screenshot did not finish in 25 s: ${status}`)
    const { id = '', created_at: created = '', started_at: started = '', estimated_time: estimatedTime = '' } = body
    const [createdAt, startedAt] = [Date.parse(created), Date.parse(started)]
    asked.push({ account: customer.name, name: toObjectName(id), createdAt, startedAt, estimatedTime })
  }
  return asked
}

/** Responses of a gateway while one account was at its limit. */
interface Bounds {
  /** Response to another request of the account at its limit. */
  refusal: Reply
  /** Its Screenshots before and after that request. */
  before: number
  after: number
  /** Number of responses to other accounts by status. */
  others: Record<string, number>
}

interface BoundsOrder {
  maxQueued: number
  maxQueuedPerAccount: number
  /** Requests of other accounts, of which there are twenty. */
  others: number
}

const ACCOUNTS = 20
const BATCH = 100
/** Captures take so long that none finishes during the measurement. */
const CAPTURE_MILLISECONDS = 600_000

/** Fills the queue of one account, and creates single screenshots of others. */
export async function measureBounds(fairnessStage: FairnessStage, { others, ...bounds }: BoundsOrder): Promise<Bounds> {
  const { stage, newCustomer, setRunners, startBounded } = fairnessStage
  const gateway = await startBounded(bounds)
  const flood = await newCustomer('bounds-flood', 'scale')
  const customers = await Promise.all(Array.from({ length: ACCOUNTS }, (_, n) => newCustomer(`bounds-other-${n}`, 'free')))
  await setRunners(1, CAPTURE_MILLISECONDS)
  const mine = async () => (await stage.screenshots.listAll()).filter(({ spec }) => spec.accountName === flood.name).length
  for (let size = BATCH; size > 0; ) {
    const { status } = await askPatiently(() => (size === 1 ? askOne(gateway.url, flood) : askBatch(gateway.url, flood, size)))
    if (status === 503) size = Math.floor(size / 2)
    else if (status !== 202) throw new Error(`a create of the flood returned ${status}`)
  }
  const before = await mine()
  const refusal = await askPatiently(() => askOne(gateway.url, flood))
  const after = await mine()
  const answers: Record<string, number> = {}
  await Promise.all(
    Array.from({ length: others }, async (_, n) => {
      const { status, body } = await askPatiently(() => askOne(gateway.url, customers[n % ACCOUNTS] ?? flood, n))
      const answer = [status, body.error?.code].filter(Boolean).join(' ')
      answers[answer] = (answers[answer] ?? 0) + 1
    }),
  )
  return { refusal, before, after, others: answers }
}

/** Captures of the accounts of each plan while all have queued screenshots. */
export interface Share {
  plan: Plan
  weight: number
  captures: number
  /** Expected captures by weight. */
  due: number
}

interface WeightsOrder {
  captures: number
  runners: number
  captureMilliseconds: number
  /** Size of the batches. */
  batch: number
  /** Captures per account before the last batch is accepted. */
  slack: number
}

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
  const begunOf = async () => Object.entries((await stage.fleet.ask({ times: true })).times).filter(([name]) => planOf.has(name))
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

/** Duration of a burst, from its request to the end of its last capture. */
interface BurstTime {
  maxPods: number
  milliseconds: number
}

interface ScalingOrder {
  burst: number
  captureMilliseconds: number
  maxPods: number
}

/** The same burst without and with scaling, starting with one runner. */
export async function measureScaling(
  fairnessStage: FairnessStage,
  { burst, captureMilliseconds, maxPods }: ScalingOrder,
): Promise<BurstTime[]> {
  const { stage, gateway, newCustomer, setRunners } = fairnessStage
  const customer = await newCustomer('scaling', 'scale')
  const times: BurstTime[] = []
  for (const most of [1, maxPods]) {
    await setRunners(1, captureMilliseconds)
    await stage.setPool({ minIdle: 1, maxPods: most, targetDrainSeconds: 5 })
    const started = performance.now()
    const names = new Set(await askBatches(gateway.url, customer, 1, burst))
    await eventually(
      `${burst} are done`,
      async () => {
        const done = (await stage.screenshots.listAll()).filter(
          ({ metadata, status }) => names.has(metadata.name) && status?.phase === 'Completed',
        )
        return done.length === burst
      },
      LONG_MILLISECONDS,
    )
    times.push({ maxPods: most, milliseconds: performance.now() - started })
  }
  return times
}
