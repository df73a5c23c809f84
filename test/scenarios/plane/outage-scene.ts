// One account with a busy webhook, and another one with a quiet webhook, while the leader is killed in the middle. Measures what is left when the load ends.

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { webhooks } from '../../../crds/client/kinds.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { missedPrefix, OPEN_PREFIX } from '../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../support/eventually.ts'
import { readMemory } from '../harness/processes.ts'
import { type EventReceiver, startEventReceivers } from './stage/event-receiver.ts'
import type { GatewayPod, Plane } from './stage/plane.ts'
import { findLeader, prepareAccountsAndRunners } from './stage/programs.ts'
import { bodyOf, type RequestResults, send, sendSteadily } from './stage/requests.ts'

/** Options of a scene. */
export interface OutageOptions {
  /** Captures per second of the busy account. */
  rate: number
  minutes: number
  /** False: the receiver of the busy account works all the time. */
  isDead: boolean
  progress: (line: string) => void
}

/** A capture of the quiet account. */
export interface QuietCapture {
  id: string
  /** Epoch milliseconds of the request. */
  at: number
  /** Until the client has the result. */
  milliseconds: number
  /** Undefined: completed. */
  problem?: string
}

/** What was measured until the load ended. The receiver is still dead. */
export interface OutageScene {
  gateway: GatewayPod
  busy: Endpoint
  quiet: Endpoint
  asked: RequestResults
  captures: QuietCapture[]
  /** Mean number of Screenshots in etcd in the last quarter of the load. */
  live: number
  /** Epoch milliseconds of the end of the first leader. */
  killedAt: number
  /** Peak MiB of each operator; the killed one first. */
  peaks: [number, number]
  countLive: () => Promise<number>
  /** Open deliveries of the busy account in the bucket. */
  countOpen: () => Promise<number>
  countMissed: () => Promise<number>
}

/** A webhook and its receiver. */
export interface Endpoint {
  id: string
  key: string
  receiver: EventReceiver
}

const RUNNERS = 10
const SAMPLE_MILLISECONDS = 2_000
/** The defaults are 1 and 75 minutes. Shorter runs have shorter delays, so that a part of the events is missed. */
const DEFAULT_DELAYS = [60_000, 4_500_000] as const
const OUTAGE_SHARES = [1 / 80, 1 / 2] as const

/** Delays before the second and the third attempt, for an outage of this length. */
export const retryDelaysFor = (minutes: number): number[] =>
  DEFAULT_DELAYS.map((delay, n) => Math.min(delay, Math.round(minutes * 60_000 * (OUTAGE_SHARES[n] ?? 1))))

/** Starts programs, and sends load until the end of the outage. */
export async function playOutage(stage: Plane, { rate, minutes, isDead, progress }: OutageOptions): Promise<OutageScene> {
  const [busyReceiver, quietReceiver] = await startEventReceivers(stage.directory, 2)
  if (!busyReceiver || !quietReceiver) throw new Error('no receivers')
  for (const receiver of [busyReceiver, quietReceiver]) stage.ends.teardown(() => receiver.close())
  const authority = path.join(stage.directory, 'receivers.pem')
  await writeFile(authority, busyReceiver.ca)
  const environment = {
    TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    TINTYPE_WEBHOOK_EXTRA_CA_FILE: authority,
    TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: retryDelaysFor(minutes).join(','),
    // So short that most records are archived before the end of the outage.
    TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: '10',
    TINTYPE_RETENTION_LIVE_FOR_SECONDS: '30',
  }
  const operators = [await stage.startOperator({ environment }), await stage.startOperator({ environment })]
  const gatewayEnvironment = { TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' }
  const { gateway, keys, accounts } = await prepareAccountsAndRunners(stage, {
    runners: RUNNERS,
    gateway: { environment: gatewayEnvironment },
  })
  const [busyKey = '', quietKey = ''] = keys
  const [account = ''] = accounts
  const busy = await subscribe(stage, gateway, busyKey, busyReceiver)
  const quiet = await subscribe(stage, gateway, quietKey, quietReceiver)

  const milliseconds = minutes * 60_000
  const end = Date.now() + milliseconds
  const samples: number[] = []
  const countLive = () => countScreenshots(stage)
  const load = sendSteadily({ urls: [gateway.url], keys: [busyKey], perSecond: rate, seconds: minutes * 60 })
  const asking = captureEachSecond(gateway.url, quietKey, end)
  const sampling = (async () => {
    for (; Date.now() < end; await sleep(SAMPLE_MILLISECONDS)) samples.push(await countLive())
  })()
  const failing = async () => {
    const half = milliseconds / 2
    await busyReceiver.become('refuses connections')
    await sleep(half)
    await busyReceiver.become('hangs')
    await sleep(half / 2)
    await busyReceiver.become('returns 503')
  }
  const failed = isDead ? failing() : undefined
  await sleep(milliseconds / 2)
  const leader = await findLeader(operators)
  const standby = operators.find((operator) => operator !== leader) ?? leader
  const { peakMebibytes } = readMemory(leader.pid)
  progress('killing the leader')
  await leader.end('SIGKILL')
  const killedAt = Date.now()
  await failed
  const [asked, captures] = await Promise.all([load, asking, sampling])
  const last = samples.slice(-Math.ceil(samples.length / 4))
  const live = last.reduce((sum, count) => sum + count, 0) / last.length
  progress(`the load is over: ${asked.accepted.length} and ${captures.length} accepted, ${live.toFixed(0)} live`)
  const peaks: OutageScene['peaks'] = [peakMebibytes, readMemory(standby.pid).peakMebibytes]
  const countOpen = () => countObjects(stage, `${OPEN_PREFIX}${account}/`)
  const countMissed = () => countObjects(stage, missedPrefix(account, busy.id))
  return { gateway, busy, quiet, asked, captures, live, killedAt, peaks, countLive, countOpen, countMissed }
}

/** Creates a webhook for completed screenshots. Resolves when the operator has observed it. */
async function subscribe({ admin }: Plane, gateway: GatewayPod, key: string, receiver: EventReceiver): Promise<Endpoint> {
  const body = { name: 'outage', url: receiver.url, events: ['screenshot.completed'] }
  const { data } = bodyOf<{ data: { id: string } }>(await send(`${gateway.url}/v1/webhooks`, { method: 'POST', key, body }), 201)
  const { id } = data
  const hooks = new Resource(admin, webhooks)
  await eventually('the webhook is active', async () => (await hooks.get(toObjectName(id))).status?.activeSince !== undefined)
  return { id, key, receiver }
}

/** Captures a page each second until a time, whatever the earlier captures do. */
async function captureEachSecond(url: string, key: string, end: number): Promise<QuietCapture[]> {
  const captures: Promise<QuietCapture>[] = []
  for (; Date.now() < end; await sleep(1_000)) captures.push(captureOnce(url, key))
  return Promise.all(captures)
}

async function captureOnce(url: string, key: string): Promise<QuietCapture> {
  const at = Date.now()
  const started = performance.now()
  const ask = async (path: string, body?: object) =>
    send(`${url}/v1/screenshots${path}?wait=25`, { key, ...(body ? { method: 'POST', body } : {}) })
  let id = ''
  let { status, text } = await ask('', { url: 'https://example.com/' })
  for (;;) {
    const record = status >= 200 && status < 300 ? (JSON.parse(text) as { id: string; status: string }) : undefined
    id = record?.id ?? id
    if (record?.status !== 'pending') {
      const problem = record?.status === 'completed' ? {} : { problem: record?.status ?? `HTTP ${status} ${text.slice(0, 100)}` }
      return { id, at, milliseconds: performance.now() - started, ...problem }
    }
    ;({ status, text } = await ask(`/${id}`))
  }
}

/** Screenshots in etcd, without a request to the API server. */
async function countScreenshots({ release }: Plane): Promise<number> {
  const prefix = '/registry/tintype.dev/screenshots'
  const body = { key: btoa(`${prefix}/`), range_end: btoa(`${prefix}0`), count_only: true }
  const response = await fetch(`${release.plane.etcdUrl}/v3/kv/range`, { method: 'POST', body: JSON.stringify(body) })
  return Number(((await response.json()) as { count?: string }).count ?? 0)
}

async function countObjects({ bucket }: Plane, prefix: string): Promise<number> {
  let count = 0
  for await (const _ of bucket.listObjectsV2('tintype', prefix, true)) count += 1
  return count
}
