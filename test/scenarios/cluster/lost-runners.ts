import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { pods as podResource } from '../../../crds/client/kinds.ts'
import type { NewObject, Resource } from '../../../crds/client/resource.ts'
import { Label, toId } from '../../../crds/src/identifiers/names.ts'
import type { RunnerPool } from '../../../crds/src/kinds/runner-pool.ts'
import { isFinished, type Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { releaseNamespace } from '../../cluster/host/state.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { call, download, type RecordBody } from '../../support/cluster/api-client.ts'
import { eventually } from '../../support/eventually.ts'
import { decode, isNear } from '../../support/picture.ts'
import { scenario } from '../harness/scenario.ts'
import { watchEnds } from '../plane/stage/verify.ts'
import { startLoad, whenAllFinished } from '../releases/stage/trial-release.ts'
import { clusterStage, openCluster, QUADRANTS } from './stage/cluster-objects.ts'
import { SECOND_NODE, startSecondNode, TAINT } from './stage/second-node.ts'

// A runner that exceeds its disk limit: the kubelet evicts the pod, the attempt counts, and the page becomes a suspect, but the Screenshot does not
// fail.

const POOL = 'evicted'
const LIMIT_MEBIBYTES = 30
/** Writes to the container's log, because the kubelet measures volumes only once per minute. */
const NOISE = `head -c ${LIMIT_MEBIBYTES}M /dev/urandom | base64 -w 1000 > /proc/1/fd/1`
const CAPTURE_MILLISECONDS = 45_000
const GENEROUS_MILLISECONDS = 300_000
const MAX_ATTEMPTS = 2

export const clusterEvicted = scenario({
  name: 'cluster-evicted',
  shows: 'a Screenshot survives a runner that the kubelet evicts for its disk usage, with one more attempt',
  stage: clusterStage,
  run: async ({ ends, ...report }) => {
    const { pools, pods, shots, spec } = await openCluster(ends)
    const { limits = {}, requests = {} } = spec.podTemplate.resources ?? {}
    const resources = { requests, limits: { ...limits, 'ephemeral-storage': `${LIMIT_MEBIBYTES}Mi` } }
    ends.teardown(() => pools.delete(POOL).catch(() => undefined))
    const object = { metadata: { name: POOL }, spec: { ...spec, minIdle: 1, maxPods: 2, podTemplate: { ...spec.podTemplate, resources } } }
    await pools.create(object as NewObject<RunnerPool>)
    await eventually('a runner is idle', async () => ((await pools.get(POOL)).status?.idle ?? 0) > 0, GENEROUS_MILLISECONDS)
    const name = `evicted-${randomUUID()}`
    const options = { viewportWidth: 400, viewportHeight: 300, delay: CAPTURE_MILLISECONDS }
    await shots.create({ metadata: { name }, spec: { url: QUADRANTS, poolName: POOL, options } } as NewObject<Screenshot>)
    const { status: first } = await eventually('the Screenshot is claimed', async () => {
      const shot = await shots.get(name)
      return shot.status?.phase === 'Running' && shot
    })
    const pod = first?.runner?.pod ?? ''
    report.progress(`${pod} exceeds its disk limit`)
    await kubectl(['exec', pod, '-n', releaseNamespace, '--', 'sh', '-c', NOISE])
    let seen = ''
    const isOver = async () => {
      const { status } = (await pods.find(pod)) ?? {}
      if (status?.reason) seen = `${status.reason}: ${status.message}`
      const shot = await shots.get(name)
      return (isFinished(shot) || shot.status?.runner?.uid !== first?.runner?.uid) && shot
    }
    const waiting = await eventually('the attempt is over', isOver, GENEROUS_MILLISECONDS)
    report.progress(`${seen}; ${JSON.stringify(waiting.status?.conditions?.map(({ reason, message }) => `${reason}: ${message}`))}`)
    const [done] = await whenAllFinished(shots, [name])
    const events = await kubectl([
      ...['get', 'events', '-n', releaseNamespace, '--field-selector', `involvedObject.name=${name},reason=RunnerLost`],
      ...['-o', 'jsonpath={.items[*].message}{.items[*].note}'],
    ])
    const { phase, attempt = 0, lostRunners = 0 } = done?.status ?? {}
    report.holds('the Screenshot was captured', phase === 'Completed', phase ?? '')
    report.atMost('attempts', attempt, MAX_ATTEMPTS, '')
    report.holds('the page is suspected once', lostRunners === 1, `${lostRunners} lost runners`)
    const isExplained = /evicted: .*(ephemeral|usage of emptydir|limit)/i.test(events)
    report.holds('its Event RunnerLost has the kubelet’s message', isExplained, events.trim())
  },
})

// A second node with its own kubelet loses its connection while it captures: the node controller marks it NotReady, other runners take over its
// captures, and it reconnects later.

const LOST_POOL = 'node-lost'
const RUNNERS = 4
const EVERY_MILLISECONDS = 1_500
const SHORT_MILLISECONDS = 3_000
const CALM_MILLISECONDS = 15_000
const AFTER_MILLISECONDS = 20_000
const LONG_MILLISECONDS = 420_000
/** Each Screenshot has a unique width, so that pictures cannot be mixed up. */
const [FIRST_WIDTH, HEIGHT] = [400, 300]
const RED = [255, 0, 0, 255]

export const clusterNodeLost = scenario({
  name: 'cluster-node-lost',
  shows: 'a second node loses its connection while it captures, and reconnects: other runners take over, and nothing finishes twice',
  stage: clusterStage,
  run: async ({ ends: cleanups, ...report }) => {
    const { http, pools, pods, shots, spec } = await openCluster(cleanups)
    const node = await startSecondNode([spec.podTemplate.image], report.progress)
    cleanups.teardown(() => node.remove())
    const tolerations = [{ key: TAINT.key, operator: 'Exists' as const }]
    const size = { minIdle: RUNNERS, maxPods: RUNNERS + 2, podTemplate: { ...spec.podTemplate, tolerations } }
    cleanups.teardown(async () => {
      await pools.delete(LOST_POOL).catch(() => undefined)
      // Pods on the node can only be deleted with it, or by force.
      for (const { metadata } of await runnersOf(pods)) await pods.delete(metadata.name, { gracePeriodSeconds: 0 }).catch(() => undefined)
    })
    await pools.create({ metadata: { name: LOST_POOL }, spec: { ...spec, ...size } } as NewObject<RunnerPool>)
    await eventually('runners are idle', async () => ((await pools.get(LOST_POOL)).status?.idle ?? 0) >= RUNNERS, LONG_MILLISECONDS)
    const onSecond = (await runnersOf(pods)).filter((pod) => nodeOf(pod) === SECOND_NODE).map(({ metadata }) => metadata.uid)
    if (onSecond.length === 0) throw new Error(`no runner was scheduled on ${SECOND_NODE}`)
    report.progress(`${onSecond.length} of ${RUNNERS} runners are on ${SECOND_NODE}`)

    const widths = new Map<string, number>()
    const create = async () => {
      const name = `node-lost-${randomUUID()}`
      const width = FIRST_WIDTH + widths.size
      widths.set(name, width)
      const options = { viewportWidth: width, viewportHeight: HEIGHT, delay: SHORT_MILLISECONDS }
      return shots.create({ metadata: { name }, spec: { url: QUADRANTS, poolName: LOST_POOL, options } } as NewObject<Screenshot>)
    }
    const ends = await watchEnds(http)
    const load = startLoad({ create }, EVERY_MILLISECONDS)
    await sleep(CALM_MILLISECONDS)
    const claimedThere = async () =>
      (await shots.listAll()).filter(({ status }) => status?.phase === 'Running' && onSecond.includes(status.runner?.uid ?? ''))
    const lost = await eventually('it captures', async () => {
      const found = await claimedThere()
      return found.length > 0 && found
    })
    report.progress(`${SECOND_NODE} is cut off with ${lost.length} captures under way`)
    await node.cut()
    const cutAt = performance.now()
    const since = () => ((performance.now() - cutAt) / 1_000).toFixed(0)
    await eventually('the node is NotReady', async () => !(await node.isReady()), LONG_MILLISECONDS)
    const notReady = since()
    report.progress(`NotReady after ${notReady} s`)
    await eventually('its runners have no claims', async () => (await claimedThere()).length === 0, LONG_MILLISECONDS)
    const given = since()
    report.progress(`its captures were given to others after ${given} s`)
    await node.heal()
    await eventually('the node is Ready again', node.isReady, LONG_MILLISECONDS)
    await sleep(AFTER_MILLISECONDS)
    await load.stop()
    const names = [...load.names]
    const finished = await whenAllFinished(shots, names)
    await ends.stop()
    const { holds } = report
    const failed = finished.filter(({ status }) => status?.phase !== 'Completed').length
    holds('every accepted Screenshot was captured', failed === 0, `${finished.length - failed} of ${names.length}`)
    const wrong: string[] = []
    for (const { metadata } of finished)
      if (!(await hasItsPicture(metadata.name, widths.get(metadata.name) ?? 0))) wrong.push(metadata.name)
    holds('each has its own picture', wrong.length === 0, wrong.join(' ') || `${finished.length} pictures`)
    holds('no Screenshot finished twice', ends.faults.length === 0, ends.faults.slice(0, 3).join('; ') || 'none')
    holds('creates were accepted all the time', load.refusals.length === 0, `${load.refusals.length} refused`)
    const wasLost = ({ metadata }: Screenshot) => lost.some((shot) => shot.metadata.name === metadata.name)
    const repeated = finished.filter((shot) => wasLost(shot) && (shot.status?.attempt ?? 0) > 1).length
    holds('Screenshots of the lost node were captured in another attempt', repeated > 0, `${repeated} of ${lost.length}`)
    report.note('time until the node was NotReady', `after ${notReady} s; its captures were with others after ${given} s`)
  },
})

type Pod = Awaited<ReturnType<Resource<NonNullable<typeof podResource.objectType>>['get']>>

const runnersOf = async (pods: Resource<NonNullable<typeof podResource.objectType>>): Promise<Pod[]> =>
  (await pods.listAll()).filter(({ metadata }) => metadata.labels?.[Label.pool] === LOST_POOL)

const nodeOf = (pod: Pod): string | undefined => (pod as { spec?: { nodeName?: string } }).spec?.nodeName

async function hasItsPicture(name: string, width: number): Promise<boolean> {
  const { body } = await call<RecordBody>(`/api/v1/screenshots/${toId(name)}`)
  if (body.status !== 'completed') return false
  const picture = await decode(await download(body))
  return picture.width === width && picture.height === HEIGHT && isNear(picture.at(5, 5), RED)
}
