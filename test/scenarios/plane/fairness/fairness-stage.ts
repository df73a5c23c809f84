import { setTimeout as sleep } from 'node:timers/promises'
import { pods as podResource } from '../../../../crds/client/core-resources.ts'
import { Resource } from '../../../../crds/client/resource.ts'
import { Label, toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Plan } from '../../../../crds/src/kinds/account.ts'
import { DEFAULT_PLANS, type Plans } from '../../../../crds/src/usage/plans.ts'
import { eventually } from '../../../support/eventually.ts'
import type { GatewayPod, OperatorPod, Plane } from '../stage/plane.ts'
import { readMetric, whenAllFinished, whenKnown } from '../stage/programs.ts'
import { send } from '../stage/requests.ts'

// Requests of clients.

/** An account with a key. */
export interface Customer {
  name: string
  key: string
}

/** Response of a gateway. */
export interface Reply {
  status: number
  retryAfter: string | undefined
  body: {
    id?: string
    screenshots?: { id: string }[]
    created_at?: string
    started_at?: string
    estimated_time?: string
    error?: { code: string }
  }
}

/** One POST. */
export async function post(url: string, { key }: Customer, body: unknown): Promise<Reply> {
  const { status, headers, text } = await send(url, { method: 'POST', key, body })
  return { status, retryAfter: headers['retry-after'], body: JSON.parse(text || '{}') as Reply['body'] }
}

const pageOf = ({ name }: Customer, n: number) => `https://example.com/${name}/${n}`

/** Creates one screenshot without waiting. */
export const askOne = (gatewayUrl: string, customer: Customer, n = 0): Promise<Reply> =>
  post(`${gatewayUrl}/v1/screenshots`, customer, { url: pageOf(customer, n) })

/** Creates a batch. */
export const askBatch = (gatewayUrl: string, customer: Customer, count: number): Promise<Reply> =>
  post(`${gatewayUrl}/v1/screenshots/batch`, customer, { urls: Array.from({ length: count }, (_, n) => pageOf(customer, n)) })

const MAX_TRIES = 10
const DEFAULT_SECONDS = 2

/** Retries like clients when the service is briefly unavailable, which happens on a busy machine. */
export async function askPatiently(ask: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const reply = await ask()
    if (reply.body.error?.code !== 'SERVICE_UNAVAILABLE' || tries === MAX_TRIES) return reply
    await sleep(Number(reply.retryAfter ?? DEFAULT_SECONDS) * 1_000)
  }
}

/** Creates batches that must be accepted. Resolves to the names of their objects. */
export async function askBatches(gatewayUrl: string, customer: Customer, count: number, size = 100): Promise<string[]> {
  const names: string[] = []
  for (let n = 0; n < count; n++) {
    const { status, body } = await askPatiently(() => askBatch(gatewayUrl, customer, size))
    if (status !== 202) throw new Error(`a batch was answered with ${status} ${body.error?.code}`)
    names.push(...(body.screenshots ?? []).map(({ id }) => toObjectName(id)))
  }
  return names
}

// Setup for measuring fairness: a real API server, store, operator and gateways, accounts of all plans, and a few simulated runners that take a
// fixed time per capture.

/** Plans with the default weights, and limits that are never reached. */
const PLANS = Object.fromEntries(
  Object.entries(DEFAULT_PLANS).map(([name, { weight }]) => [
    name,
    { monthlyQuota: 1_000_000, ratePerMinute: 1_000_000, retentionDays: 30, weight },
  ]),
) as Plans

const TINTYPE_PLANS = JSON.stringify(PLANS)
const LONG_MILLISECONDS = 300_000

/** The running setup. */
export interface FairnessStage {
  stage: Plane
  operator: OperatorPod
  gateway: GatewayPod
  newCustomer: (name: string, plan: Plan) => Promise<Customer>
  /** Starts another gateway with other queue limits. */
  startBounded: (bounds: { maxQueued: number; maxQueuedPerAccount: number }) => Promise<GatewayPod>
  /** Sets the exact number of runners and the duration of a capture. */
  setRunners: (runners: number, captureMilliseconds: number) => Promise<void>
  /** Number of Screenshots in the operator's queue. */
  queued: () => Promise<number>
  /** Captures everything that is queued. */
  drain: () => Promise<void>
}

/** Starts the setup on a stage. */
export async function openFairnessStage(stage: Plane): Promise<FairnessStage> {
  const environment = { TINTYPE_PLANS, TINTYPE_MAX_QUEUED_PER_ACCOUNT: '5000' }
  const operator = await stage.startOperator({ environment })
  await eventually('the operator leads', operator.isLeader, LONG_MILLISECONDS)
  const gateway = await stage.startGateway({ environment })
  const newCustomer: FairnessStage['newCustomer'] = async (name, plan) => {
    const key = await stage.createAccount(name, plan)
    await whenKnown(gateway, key)
    return { name, key }
  }
  const startBounded: FairnessStage['startBounded'] = ({ maxQueued, maxQueuedPerAccount }) =>
    stage.startGateway({
      environment: { TINTYPE_PLANS, TINTYPE_MAX_QUEUED: String(maxQueued), TINTYPE_MAX_QUEUED_PER_ACCOUNT: String(maxQueuedPerAccount) },
    })
  const setRunners: FairnessStage['setRunners'] = async (runners, captureMilliseconds) => {
    await stage.fleet.ask({ captureMilliseconds, forget: true })
    await stage.setPool({ minIdle: runners, maxPods: runners, scaleDownDelaySeconds: 0, capturesPerPod: 100_000 })
    await stage.whenIdle(runners)
    const pods = new Resource(stage.admin, podResource)
    const seen = async () => (await pods.listAll({ labelSelector: Label.pool })).map(({ metadata, status }) => [metadata, status?.phase])
    const areThere = async () => (await stage.fleet.ask({})).runners === runners
    await eventually('the pool has exactly these runners', areThere, LONG_MILLISECONDS).catch(async (cause: unknown) => {
      throw new Error(`not ${runners} runners but ${JSON.stringify(await seen())}`, { cause })
    })
  }
  const queued = () => readMetric(operator, 'screenshot_pool_queued')
  const drain = async () => {
    await stage.fleet.ask({ captureMilliseconds: 1 })
    await whenAllFinished(operator, LONG_MILLISECONDS)
  }
  return { stage, operator, gateway, newCustomer, startBounded, setRunners, queued, drain }
}
