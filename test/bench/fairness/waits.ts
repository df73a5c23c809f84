import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { askBatches, post } from './ask.ts'
import type { Customer, FairnessStage } from './fairness-stage.ts'

/** Wait of one screenshot for a runner behind the batches of another account. */
export interface Wait {
  account: string
  milliseconds: number
  /** Captures of others that were started meanwhile. */
  overtakenBy: number
  /** Status of its create request. */
  estimatedTime: string
}

export interface WaitsOrder {
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
  const { times } = await stage.fleet.send({ times: true })
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
