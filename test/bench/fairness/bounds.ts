import { askBatch, askOne, type Reply } from './ask.ts'
import type { FairnessStage } from './fairness-stage.ts'

/** What a gateway answered while one account was at its bound. */
export interface Bounds {
  /** Of the account at its bound, one request more. */
  refusal: Reply
  /** Its Screenshots before and after that request. */
  before: number
  after: number
  /** Of others: how often each answer came. */
  others: Record<string, number>
}

export interface BoundsOrder {
  maxQueued: number
  maxQueuedPerAccount: number
  /** Requests of others, each of them from one of twenty accounts. */
  others: number
}

const ACCOUNTS = 20
const BATCH = 100
/** Nothing ends while this is looked at. */
const CAPTURE_MILLISECONDS = 600_000

/** Fills the queue of one account, and asks for as many single screenshots of others. */
export async function measureBounds(fairnessStage: FairnessStage, { others, ...bounds }: BoundsOrder): Promise<Bounds> {
  const { stage, newCustomer, setRunners, startBounded } = fairnessStage
  const gateway = await startBounded(bounds)
  const flood = await newCustomer('bounds-flood', 'scale')
  const customers = await Promise.all(Array.from({ length: ACCOUNTS }, (_, n) => newCustomer(`bounds-other-${n}`, 'free')))
  await setRunners(1, CAPTURE_MILLISECONDS)
  const mine = async () => (await stage.screenshots.listAll()).filter(({ spec }) => spec.accountName === flood.name).length
  for (let size = BATCH; size > 0; ) {
    const { status } = size === 1 ? await askOne(gateway.url, flood) : await askBatch(gateway.url, flood, size)
    if (status === 503) size = Math.floor(size / 2)
    else if (status !== 202) throw new Error(`the flood was answered with ${status}`)
  }
  const before = await mine()
  const refusal = await askOne(gateway.url, flood)
  const after = await mine()
  const answers: Record<string, number> = {}
  await Promise.all(
    Array.from({ length: others }, async (_, n) => {
      const { status, body } = await askOne(gateway.url, customers[n % ACCOUNTS] ?? flood, n)
      const answer = [status, body.error?.code].filter(Boolean).join(' ')
      answers[answer] = (answers[answer] ?? 0) + 1
    }),
  )
  return { refusal, before, after, others: answers }
}
