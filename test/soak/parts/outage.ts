import { percentile } from '../../bench/report/statistics.ts'
import type { Table } from '../../bench/report/table.ts'
import { eventually } from '../../support/eventually.ts'
import { atMost, type Finding, holds, type Part, type PartContext, type PartResult } from '../part.ts'
import { send } from '../stage/clients.ts'
import type { ReceivedEvent } from '../stage/event-receiver.ts'
import { type OutageScene, playOutage, type QuietCapture, retryDelaysFor } from '../stage/outage-scene.ts'
import { withStage } from '../stage/stage.ts'
import { describeOutcome, verifyAll } from '../stage/verify.ts'

const RATE = 10
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
const MARGIN_MILLISECONDS = 240_000

/** A receiver that is dead for as long as the load lasts. */
export const outage: Part = {
  name: 'outage',
  shows:
    'a receiver that is down, with ten events a second and a killed leader: live objects, another account’s times, memory, and lost events. Outages of 20, 60 and 80 minutes with the default delays are tested with a false clock',
  run,
}

/** The figures of one scene. */
interface Seen {
  scene: OutageScene
  p95: number
  eventP95: number
  findings: Finding[]
}

async function run({ settings: { rate = RATE, minutes }, progress }: PartContext): Promise<PartResult> {
  const play = (isDead: boolean, act: (scene: OutageScene) => Promise<Finding[]>) =>
    withStage(async (stage): Promise<Seen> => {
      progress(isDead ? 'the receiver is dead' : 'the receiver works')
      const scene = await playOutage(stage, { rate, minutes, isDead, progress })
      const findings = await act(scene)
      const received = [...scene.quiet.receiver.events.values()]
      return {
        scene,
        p95: percentile(
          scene.captures.map(({ milliseconds }) => milliseconds),
          95,
        ),
        eventP95: percentile(delaysOf(scene.captures, received), 95),
        findings: [...describeLoad(isDead ? 'dead' : 'works', scene), ...findings],
      }
    })
  const works = await play(false, (scene) => endOfWorking(scene))
  const dead = await play(true, (scene) => endOfDead(scene, retryDelaysFor(minutes), progress))
  const both = [dead.scene.live, works.scene.live] as const
  const findings = [
    ...works.findings,
    ...dead.findings,
    atMost('live objects in etcd, one receiver against the other', Math.max(...both) / Math.min(...both), BAR_LIVE, '', 2),
    atMost('p95 of the other account’s captures, dead against works', dead.p95 / works.p95, BAR_SLOWER, '', 2),
    atMost('p95 until the other account’s events arrive, dead against works', dead.eventP95 / works.eventP95, BAR_SLOWER, '', 2),
  ]
  const [second = 0, third = 0] = retryDelaysFor(minutes)
  const table: Table = {
    title: `${rate} captures a second of one account and 1 of another for ${minutes} minutes, retries after ${second / 1_000} and ${third / 1_000} s`,
    head: [
      'receiver',
      'accepted',
      'live at the end',
      'p95 of the other account, ms',
      'p95 of its events, ms',
      'peak MiB, killed leader',
      'peak MiB, next leader',
    ],
    rows: [
      ['works', works],
      ['dead', dead],
    ].map(([name, seen]) => rowOf(name as string, seen as Seen)),
  }
  return { findings, tables: [table] }
}

const rowOf = (name: string, { scene, p95, eventP95 }: Seen): string[] => [
  name,
  String(scene.asked.accepted.length),
  scene.live.toFixed(0),
  p95.toFixed(0),
  eventP95.toFixed(0),
  ...scene.peaks.map((peak) => peak.toFixed(0)),
]

/** Milliseconds from the request of a capture to its event. */
function delaysOf(captures: readonly QuietCapture[], events: readonly ReceivedEvent[]): number[] {
  const arrivals = new Map(events.map(({ screenshot, accepted: [first = Number.NaN] }) => [screenshot, first]))
  return captures.map(({ id, at }) => (arrivals.get(id) ?? Number.NaN) - at)
}

function describeLoad(name: string, { asked, captures, peaks }: OutageScene): Finding[] {
  const problems = captures.flatMap(({ problem }) => problem ?? [])
  return [
    holds(`${name}: every request was accepted`, Object.keys(asked.others).length === 0, JSON.stringify(asked.others)),
    holds(
      `${name}: no capture of the other account failed`,
      problems.length === 0,
      problems.slice(0, 3).join(', ') || `${captures.length}`,
    ),
    atMost(`${name}: peak MiB of an operator`, Math.max(...peaks), BAR_MEBIBYTES, 'MiB'),
  ]
}

/** Accepted screenshots whose event has arrived. */
const countArrived = ({ busy, asked }: OutageScene): number => {
  const events = [...busy.receiver.events.values()].filter(({ accepted }) => accepted.length > 0)
  const arrived = new Set(events.map(({ screenshot }) => screenshot))
  return asked.accepted.filter(({ id }) => arrived.has(id)).length
}

async function endOfWorking(scene: OutageScene): Promise<Finding[]> {
  const wanted = scene.asked.accepted.length
  await eventually('all events have arrived', async () => countArrived(scene) === wanted, MARGIN_MILLISECONDS)
  return [await verifyPictures('works', scene), findRepeats('works', scene)]
}

async function endOfDead(scene: OutageScene, [, third = 0]: number[], progress: (line: string) => void): Promise<Finding[]> {
  const { busy, gateway, asked, countLive, countOpen, countMissed } = scene
  const wanted = asked.accepted.length
  await busy.receiver.become('works')
  await eventually('everything is archived', async () => (await countLive()) === 0, MARGIN_MILLISECONDS)
  const archivedOpen = await countOpen()
  progress(`the receiver works; ${archivedOpen} open deliveries are in the bucket`)
  await eventually('no delivery is open', async () => (await countOpen()) === 0, third * JITTER + MARGIN_MILLISECONDS)
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
  return [
    await verifyPictures('dead', scene),
    holds('dead: open deliveries need no live object', archivedOpen > 0, `${archivedOpen} in the bucket, no live Screenshot`),
    atMost('dead: posts of an event before the call', mostPosts, MAX_ATTEMPTS, ''),
    holds('dead: each event arrived without a request, or was missed', alone + missed === wanted, `${alone} and ${missed}`),
    holds('dead: the outage was long enough for missed events; otherwise set a larger --minutes', missed > 0, `${missed}`),
    holds(
      'dead: one call delivers the missed events',
      status === 202 && data?.missed_deliveries === missed && countArrived(scene) === wanted,
      `${status}, ${data?.missed_deliveries} in ${seconds.toFixed(0)} s, ${countArrived(scene)} of ${wanted} arrived`,
    ),
    findRepeats('dead', scene),
  ]
}

async function verifyPictures(name: string, { gateway, asked, captures, quiet }: OutageScene): Promise<Finding> {
  const all = [...asked.accepted, ...captures.filter(({ id }) => id !== '').map(({ id }) => ({ id, key: quiet.key }))]
  const outcome = await verifyAll(gateway.url, all)
  const isWhole = outcome.completed === all.length && outcome.faults.length === 0
  return holds(`${name}: every accepted Screenshot ended with its own picture`, isWhole, describeOutcome(outcome))
}

/** An event may be accepted twice only if its first result was not recorded when the leader was killed. */
function findRepeats(name: string, { busy, quiet, killedAt }: OutageScene): Finding {
  const events = [busy, quiet].flatMap(({ receiver }) => [...receiver.events.values()])
  const repeated = events.map(({ accepted }) => accepted).filter(({ length }) => length > 1)
  const isExcused = ([first = 0, second = 0, third]: number[]) => third === undefined && first <= killedAt && second >= killedAt
  return holds(
    `${name}: events arrived once, except those in progress when the leader was killed`,
    repeated.every(isExcused) && repeated.length <= MAX_UNRECORDED,
    `${repeated.length} arrived twice`,
  )
}
