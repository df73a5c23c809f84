import { askBatch, askOne, askPatiently, type Reply } from './ask.ts'
import type { FairnessStage } from './fairness-stage.ts'

/** Responses of a gateway while one account was at its limit. */
export interface Bounds {
  /** Response to another request of the account at its limit. */
  refusal: Reply
  /** Its Screenshots before and after that request. */
  before: number
  after: number
  /** Number of responses to other accounts by status. */
  others: Record<string, number>
}

export interface BoundsOrder {
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
