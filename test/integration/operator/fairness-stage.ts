import { setTimeout as sleep } from 'node:timers/promises'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Plan } from '../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS, type Plans } from '../../../crds/src/usage/plans.ts'
import type { GatewayPod, Plane } from '../../scenarios/plane/stage/plane.ts'
import { readMetric, whenAllFinished, whenKnown } from '../../scenarios/plane/stage/programs.ts'
import { send } from '../../scenarios/plane/stage/requests.ts'
import { eventually } from '../../support/eventually.ts'

// Setup for fairness between accounts: a real API server, store, operator and gateways, accounts of all plans, and a few simulated runners that take a
// fixed time per capture.

/** An account with a key. */
interface Customer {
  name: string
  key: string
}

/** Response of a gateway. */
interface Reply {
  status: number
  retryAfter: string | undefined
  body: { id?: string; screenshots?: { id: string }[]; estimated_time?: string; error?: { code: string } }
}

async function post(url: string, { key }: Customer, body: unknown): Promise<Reply> {
  const { status, headers, text } = await send(url, { method: 'POST', key, body })
  return { status, retryAfter: headers['retry-after'], body: JSON.parse(text || '{}') as Reply['body'] }
}

const pageOf = ({ name }: Customer, n: number) => `https://example.com/${name}/${n}`

const MAX_TRIES = 10
const DEFAULT_SECONDS = 2

/** Retries like clients when the service is briefly unavailable, which happens on a busy machine. */
async function askPatiently(ask: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const reply = await ask()
    if (reply.body.error?.code !== 'SERVICE_UNAVAILABLE' || tries === MAX_TRIES) return reply
    await sleep(Number(reply.retryAfter ?? DEFAULT_SECONDS) * 1_000)
  }
}

/** Creates one screenshot without waiting. */
export const askOne = ({ url }: GatewayPod, customer: Customer, n = 0): Promise<Reply> =>
  askPatiently(() => post(`${url}/v1/screenshots`, customer, { url: pageOf(customer, n) }))

/** Creates a batch. */
export const askBatch = ({ url }: GatewayPod, customer: Customer, size: number): Promise<Reply> => {
  const urls = Array.from({ length: size }, (_, n) => pageOf(customer, n))
  return askPatiently(() => post(`${url}/v1/screenshots/batch`, customer, { urls }))
}

/** Creates batches that must be accepted. Resolves to the names of their objects. */
export async function askBatches(gateway: GatewayPod, customer: Customer, count: number, size: number): Promise<string[]> {
  const names: string[] = []
  for (let n = 0; n < count; n++) {
    const { status, body } = await askBatch(gateway, customer, size)
    if (status !== 202) throw new Error(`a batch was answered with ${status} ${body.error?.code}`)
    names.push(...(body.screenshots ?? []).map(({ id }) => toObjectName(id)))
  }
  return names
}

/** Plans with the default weights, and limits that are never reached. */
const PLANS = Object.fromEntries(
  Object.entries(DEFAULT_PLANS).map(([name, { weight }]) => [
    name,
    { monthlyQuota: 1_000_000, ratePerMinute: 1_000_000, retentionDays: 30, weight },
  ]),
) as Plans
const TINTYPE_PLANS = JSON.stringify(PLANS)
export const LONG_MILLISECONDS = 300_000

/** Starts the setup on a stage. */
export async function openFairnessStage(stage: Plane) {
  const environment = { TINTYPE_PLANS, TINTYPE_MAX_QUEUED_PER_ACCOUNT: '5000' }
  const operator = await stage.startOperator({ environment })
  await eventually('the operator leads', operator.isLeader, LONG_MILLISECONDS)
  const gateway = await stage.startGateway({ environment })
  return {
    stage,
    gateway,
    newCustomer: async (name: string, plan: Plan): Promise<Customer> => {
      const key = await stage.createAccount(name, plan)
      await whenKnown(gateway, key)
      return { name, key }
    },
    /** Starts another gateway with other queue limits. */
    startBounded: (maxQueued: number, maxQueuedPerAccount: number) => {
      const limits = { TINTYPE_MAX_QUEUED: String(maxQueued), TINTYPE_MAX_QUEUED_PER_ACCOUNT: String(maxQueuedPerAccount) }
      return stage.startGateway({ environment: { TINTYPE_PLANS, ...limits } })
    },
    /** Sets the exact number of runners and the duration of a capture. */
    setRunners: async (runners: number, captureMilliseconds: number): Promise<void> => {
      await stage.fleet.ask({ captureMilliseconds, forget: true })
      await stage.setPool({ minIdle: runners, maxPods: runners, scaleDownDelaySeconds: 0, capturesPerPod: 100_000 })
      await stage.whenIdle(runners)
      const areThere = async () => (await stage.fleet.ask({})).runners === runners
      await eventually(`the pool has exactly ${runners} runners`, areThere, LONG_MILLISECONDS)
    },
    /** Number of Screenshots in the operator's queue. */
    queued: () => readMetric(operator, 'screenshot_pool_queued'),
    /** Captures everything that is queued. */
    drain: async (): Promise<void> => {
      await stage.fleet.ask({ captureMilliseconds: 1 })
      await whenAllFinished(operator, LONG_MILLISECONDS)
    },
  }
}
