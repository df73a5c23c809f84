import { randomUUID } from 'node:crypto'
import type { NewObject } from '../../../crds/client/resource.ts'
import type { RunnerPool } from '../../../crds/src/kinds/runner-pool.ts'
import { isFinished, type Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { releaseNamespace } from '../../cluster/host/state.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { eventually } from '../../support/eventually.ts'
import { scenario } from '../harness/scenario.ts'
import { clusterStage, openCluster, QUADRANTS } from './stage/cluster-objects.ts'

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
    const whenDone = async () => {
      const shot = await shots.get(name)
      return isFinished(shot) && shot
    }
    const done = await eventually('it ends', whenDone, GENEROUS_MILLISECONDS)
    const events = await kubectl([
      ...['get', 'events', '-n', releaseNamespace, '--field-selector', `involvedObject.name=${name},reason=RunnerLost`],
      ...['-o', 'jsonpath={.items[*].message}{.items[*].note}'],
    ])
    const { phase, attempt = 0, lostRunners = 0 } = done.status ?? {}
    report.holds('the Screenshot was captured', phase === 'Completed', phase ?? '')
    report.atMost('attempts', attempt, MAX_ATTEMPTS, '')
    report.holds('the page is suspected once', lostRunners === 1, `${lostRunners} lost runners`)
    const isExplained = /evicted: .*(ephemeral|usage of emptydir|limit)/i.test(events)
    report.holds('its Event RunnerLost has the kubelet’s message', isExplained, events.trim())
  },
})
