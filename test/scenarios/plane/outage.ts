import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { webhooks } from '../../../crds/client/kinds.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { missedPrefix, OPEN_PREFIX } from '../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../support/eventually.ts'
import { readMemory } from '../harness/processes.ts'
import { type Context, type Report, scenario } from '../harness/scenario.ts'
import { p95 } from '../harness/statistics.ts'
import { tableOf } from '../harness/table.ts'
import { type EventReceiver, type ReceivedEvent, startEventReceivers } from './stage/event-receiver.ts'
import { type GatewayPod, type Plane, plane, withPlane } from './stage/plane.ts'
import { findLeader, prepareAccountsAndRunners } from './stage/programs.ts'
import { bodyOf, captureEachSecond, type SecondCapture, send, sendSteadily } from './stage/requests.ts'
import { checkAccepted, checkPictures } from './stage/verify.ts'

// One account with a busy webhook, and another one with a quiet webhook, while the leader is killed in the middle. Measures what is left when the load ends.

const BAR_MEBIBYTES = 250
/** Live objects with a dead receiver and with one that works, relative to one another. */
const BAR_LIVE = 1.1
/** Two runs of the same load differ by this much on a busy machine. */
const BAR_SLOWER = 1.5
const MAX_ATTEMPTS = 3
/** Maximum number of posts without a recorded result when a leader is killed: 32 that wait to be written, and 8 in progress for each of two endpoints. */
const MAX_UNRECORDED = 32 + 2 * 8
/** Besides the delay of the third attempt: its random part is a fifth, the circuit breaker adds half a minute twice, and the queue the rest. */
const JITTER = 1.2
const MARGIN_MILLISECONDS = 600_000

/** The figures of one scene. */
interface Seen {
  name: string
  scene: OutageScene
  p95: number
  eventP95: number
}

const options = { rate: 10, minutes: 20 }

/** A receiver that is dead for as long as the load lasts. */
export const outage = scenario({
  name: 'outage',
  shows:
    'a receiver that is down, with ten events a second and a killed leader: live objects, another account’s times, memory, and lost events. Outages of 20, 60 and 80 minutes with the default delays are tested with a false clock',
  // Each scene has a plane of its own.
  stage: { ...plane(), open: async () => undefined },
  options,
  run,
})

async function run({ settings: { rate, minutes }, ...report }: Context<undefined, typeof options>): Promise<void> {
  const delays = retryDelaysFor(minutes)
  const play = (name: 'works' | 'dead', act: (scene: OutageScene) => Promise<void>) =>
    withPlane(async (stage): Promise<Seen> => {
      report.progress(`the receiver: ${name}`)
      const scene = await playOutage(stage, { rate, minutes, isDead: name === 'dead', progress: report.progress })
      checkLoad(report, name, scene)
      await act(scene)
      const captures = p95(scene.captures.map(({ milliseconds }) => milliseconds))
      return { name, scene, p95: captures, eventP95: p95(delaysOf(scene.captures, [...scene.quiet.receiver.events.values()])) }
    })
  const works = await play('works', (scene) => endOfWorking(report, scene, delays))
  const dead = await play('dead', (scene) => endOfDead(report, scene, delays))
  const live = [dead.scene.live, works.scene.live] as const
  report.atMost('live objects in etcd, one receiver against the other', Math.max(...live) / Math.min(...live), BAR_LIVE, '', 2)
  report.atMost('p95 of the other account’s captures, dead against works', dead.p95 / works.p95, BAR_SLOWER, '', 2)
  report.atMost('p95 until the other account’s events arrive, dead against works', dead.eventP95 / works.eventP95, BAR_SLOWER, '', 2)
  const [second = 0, third = 0] = delays
  const load = `${rate} captures a second of one account and 1 of another for ${minutes} minutes`
  report.table(
    tableOf(`${load}, retries after ${second / 1_000} and ${third / 1_000} s`, [works, dead], {
      receiver: ({ name }) => name,
      accepted: ({ scene }) => scene.asked.accepted.length,
      'live at the end': ({ scene }) => scene.live,
      'p95 of the other account, ms': ({ p95 }) => p95,
      'p95 of its events, ms': ({ eventP95 }) => eventP95,
      'peak MiB, killed leader': ({ scene }) => scene.peaks[0],
      'peak MiB, next leader': ({ scene }) => scene.peaks[1],
    }),
  )
}

/** Milliseconds from the request of a capture to its event. */
function delaysOf(captures: readonly SecondCapture[], events: readonly ReceivedEvent[]): number[] {
  const arrivals = new Map(events.map(({ screenshot, accepted: [first = Number.NaN] }) => [screenshot, first]))
  return captures.map(({ id, at }) => (arrivals.get(id) ?? Number.NaN) - at)
}

function checkLoad(report: Report, name: string, { asked, captures, peaks }: OutageScene): void {
  checkAccepted(report, asked, `${name}: `)
  const problems = captures.flatMap(({ problem }) => problem ?? [])
  const measured = problems.slice(0, 3).join(', ') || `${captures.length}`
  report.holds(`${name}: no capture of the other account failed`, problems.length === 0, measured)
  report.atMost(`${name}: peak MiB of an operator`, Math.max(...peaks), BAR_MEBIBYTES, 'MiB')
}

/** Accepted screenshots whose event has arrived. */
const countArrived = ({ busy, asked }: OutageScene): number => {
  const events = [...busy.receiver.events.values()].filter(({ accepted }) => accepted.length > 0)
  const arrived = new Set(events.map(({ screenshot }) => screenshot))
  return asked.accepted.filter(({ id }) => arrived.has(id)).length
}

/** Waits until all records are archived, and until no delivery is open. Returns the number of deliveries that were open in between. */
async function settle({ countLive, countOpen }: OutageScene, [, third = 0]: number[]): Promise<number> {
  await eventually('everything is archived', async () => (await countLive()) === 0, MARGIN_MILLISECONDS)
  const open = await countOpen()
  await eventually('no delivery is open', async () => (await countOpen()) === 0, third * JITTER + MARGIN_MILLISECONDS)
  return open
}

async function endOfWorking(report: Report, scene: OutageScene, delays: number[]): Promise<void> {
  await settle(scene, delays)
  const [arrived, wanted, missed] = [countArrived(scene), scene.asked.accepted.length, await scene.countMissed()]
  await verifyPictures(report, 'works', scene)
  report.holds('works: every event arrived', arrived === wanted && missed === 0, `${arrived} of ${wanted}, ${missed} missed`)
  checkRepeats(report, 'works', scene)
}

async function endOfDead(report: Report, scene: OutageScene, delays: number[]): Promise<void> {
  const { holds, atMost, progress } = report
  const { busy, gateway, asked, countOpen, countMissed } = scene
  const wanted = asked.accepted.length
  await busy.receiver.become('works')
  progress('the receiver works')
  const archivedOpen = await settle(scene, delays)
  const alone = countArrived(scene)
  const missed = await countMissed()
  const mostPosts = Math.max(...[...busy.receiver.events.values()].map(({ posts }) => posts))
  progress(`${alone} events have arrived, ${missed} are missed`)
  const redelivered = performance.now()
  const { status, text } = await send(`${gateway.url}/v1/webhooks/${busy.id}/redeliver-missed`, { method: 'POST', key: busy.key })
  const { data } = JSON.parse(text) as { data?: { missed_deliveries: number } }
  await eventually('the missed events have arrived', async () => countArrived(scene) === wanted, MARGIN_MILLISECONDS)
  const seconds = (performance.now() - redelivered) / 1_000
  await eventually('nothing is left', async () => (await countOpen()) + (await countMissed()) === 0)
  await verifyPictures(report, 'dead', scene)
  holds('dead: open deliveries need no live object', archivedOpen > 0, `${archivedOpen} in the bucket, no live Screenshot`)
  atMost('dead: posts of an event before the call', mostPosts, MAX_ATTEMPTS, '')
  holds('dead: each event arrived without a request, or was missed', alone + missed === wanted, `${alone} and ${missed}`)
  holds('dead: the outage was long enough for missed events; otherwise set a larger --minutes', missed > 0, `${missed}`)
  holds(
    'dead: one call delivers the missed events',
    status === 202 && data?.missed_deliveries === missed && countArrived(scene) === wanted,
    `${status}, ${data?.missed_deliveries} in ${seconds.toFixed(0)} s, ${countArrived(scene)} of ${wanted} arrived`,
  )
  checkRepeats(report, 'dead', scene)
}

async function verifyPictures(report: Report, name: string, { gateway, asked, captures, quiet }: OutageScene): Promise<void> {
  const all = [...asked.accepted, ...captures.filter(({ id }) => id !== '').map(({ id }) => ({ id, key: quiet.key }))]
  await checkPictures(report, gateway.url, all, `${name}: every accepted`)
}

/** An event may be accepted twice only if its first result was not recorded when the leader was killed. */
function checkRepeats({ holds }: Report, name: string, { busy, quiet, killedAt }: OutageScene): void {
  const events = [busy, quiet].flatMap(({ receiver }) => [...receiver.events.values()])
  const repeated = events.map(({ accepted }) => accepted).filter(({ length }) => length > 1)
  const isExcused = ([first = 0, second = 0, third]: number[]) => third === undefined && first <= killedAt && second >= killedAt
  const isMet = repeated.every(isExcused) && repeated.length <= MAX_UNRECORDED
  holds(`${name}: events arrived once, except those in progress when the leader was killed`, isMet, `${repeated.length} arrived twice`)
}

/** Options of a scene. */
interface OutageOptions {
  /** Captures per second of the busy account. */
  rate: number
  minutes: number
  /** False: the receiver of the busy account works all the time. */
  isDead: boolean
  progress: (line: string) => void
}

/** What was measured until the load ended. The receiver is still dead. */
type OutageScene = Awaited<ReturnType<typeof playOutage>>

const RUNNERS = 10
const SAMPLE_MILLISECONDS = 2_000
/** The defaults are 1 and 75 minutes. Shorter runs have shorter delays, so that a part of the events is missed. */
const DEFAULT_DELAYS = [60_000, 4_500_000] as const
const OUTAGE_SHARES = [1 / 80, 1 / 2] as const

/** Delays before the second and the third attempt, for an outage of this length. */
const retryDelaysFor = (minutes: number): number[] =>
  DEFAULT_DELAYS.map((delay, n) => Math.min(delay, Math.round(minutes * 60_000 * (OUTAGE_SHARES[n] ?? 1))))

/** Starts programs, and sends load until the end of the outage. */
async function playOutage(stage: Plane, { rate, minutes, isDead, progress }: OutageOptions) {
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
  const endCaptures = captureEachSecond(gateway.url, quietKey, { url: 'https://example.com/' })
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
  /** Epoch milliseconds of the end of the first leader. */
  const killedAt = Date.now()
  await failed
  const [asked] = await Promise.all([load, sampling])
  const captures = await endCaptures()
  const last = samples.slice(-Math.ceil(samples.length / 4))
  /** Mean number of Screenshots in etcd in the last quarter of the load. */
  const live = last.reduce((sum, count) => sum + count, 0) / last.length
  progress(`the load is over: ${asked.accepted.length} and ${captures.length} accepted, ${live.toFixed(0)} live`)
  /** Peak MiB of each operator; the killed one first. */
  const peaks: [number, number] = [peakMebibytes, readMemory(standby.pid).peakMebibytes]
  /** Open deliveries of the busy account in the bucket. */
  const countOpen = () => countObjects(stage, `${OPEN_PREFIX}${account}/`)
  const countMissed = () => countObjects(stage, missedPrefix(account, busy.id))
  return { gateway, busy, quiet, asked, captures, live, killedAt, peaks, countLive, countOpen, countMissed }
}

/** Creates a webhook for completed screenshots. Resolves when the operator has observed it. */
async function subscribe({ admin }: Plane, gateway: GatewayPod, key: string, receiver: EventReceiver) {
  const body = { name: 'outage', url: receiver.url, events: ['screenshot.completed'] }
  const { data } = bodyOf<{ data: { id: string } }>(await send(`${gateway.url}/v1/webhooks`, { method: 'POST', key, body }), 201)
  const { id } = data
  const hooks = new Resource(admin, webhooks)
  await eventually('the webhook is active', async () => (await hooks.get(toObjectName(id))).status?.activeSince !== undefined)
  return { id, key, receiver }
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
