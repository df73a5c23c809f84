import t from 'tap'
import type { Pod } from '../../../../crds/client/kinds.ts'
import { buildRunnerPod, ordinalOf, podName, templateHash } from '../../../../operator/src/runner/pod.ts'
import {
  endOf,
  isOrderly,
  isPageSuspected,
  lastLogLineOf,
  type PodEnd,
  podState,
  unchangedSince,
  unschedulableReason,
  waitingReason,
} from '../../../../operator/src/runner/pod-state.ts'
import { assertAccepts } from '../../../support/accepts.ts'
import { aRunnerPool, at, NOON } from '../../../support/fakes/builders.ts'
import { aPod, endedStatus, readyStatus, unschedulableStatus, waitingStatus } from '../../../support/fakes/runners.ts'

const settings = {
  namespace: 'tintype',
  release: 'tintype',
  logLevel: 'info',
  platform: 'kubernetes' as const,
  dispatchPublicKey: { kty: 'OKP', crv: 'Ed25519', x: 'public' },
  maxFileBytes: 100 * 1024 ** 2,
}
const pool = aRunnerPool({ spec: { egress: { allowedHosts: ['*.sites.svc.cluster.local'] } } })
const pod = buildRunnerPod(pool, 7, settings)
const container = pod.spec?.containers[0]
const environment = Object.fromEntries((container?.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))

t.test('buildRunnerPod names the pod by its ordinal and sets the pool as owner', async (t) => {
  t.equal(pod.metadata?.name, 'default-7')
  const owner = { apiVersion: 'tintype.dev/v1alpha1', kind: 'RunnerPool', name: 'default', uid: pool.metadata.uid, controller: true }
  t.strictSame(pod.metadata?.ownerReferences, [owner])
  t.match(pod.metadata?.labels, {
    'tintype.dev/pool': 'default',
    'tintype.dev/template-hash': templateHash(pool.spec, settings),
    'app.kubernetes.io/component': 'capture-runner',
  })
})

t.test('buildRunnerPod complies with the Pod Security level restricted', async (t) => {
  t.match(pod.spec?.securityContext, { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } })
  const restricted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }
  t.strictSame(container?.securityContext, restricted)
  t.match(pod.spec, { automountServiceAccountToken: false, enableServiceLinks: false })
  const kinds = (pod.spec?.volumes ?? []).flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'))
  t.strictSame(new Set(kinds), new Set(['emptyDir', 'projected']))
})

t.test('buildRunnerPod projects two short-lived tokens, one of them only for the dispatch', async (t) => {
  const tokens = (pod.spec?.volumes ?? []).flatMap(
    ({ projected }) => projected?.sources?.flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []) ?? [],
  )
  t.strictSame(tokens, [
    { path: 'token', expirationSeconds: 600 },
    { path: 'token', expirationSeconds: 600, audience: 'tintype-dispatch' },
  ])
})

t.test('buildRunnerPod sets the environment of the runner', async (t) => {
  t.match(environment, {
    TINTYPE_PORT: '8080',
    TINTYPE_DISPATCH_PUBLIC_KEY: '{"kty":"OKP","crv":"Ed25519","x":"public"}',
    TINTYPE_EGRESS: '{"allowedHosts":["*.sites.svc.cluster.local"]}',
    TINTYPE_SANDBOX_MODE: 'auto',
    TINTYPE_ISOLATION: 'context',
    TINTYPE_KUBERNETES_TOKEN_FILE: '/var/run/secrets/tintype/kubernetes/token',
    TINTYPE_KUBERNETES_CA_FILE: '/var/run/secrets/tintype/kubernetes/ca.crt',
    TINTYPE_DISPATCH_TOKEN_FILE: '/var/run/secrets/tintype/dispatch/token',
    TINTYPE_POD_UID: { fieldRef: { fieldPath: 'metadata.uid' } },
    TINTYPE_MEMORY_LIMIT_BYTES: { resourceFieldRef: { containerName: 'runner', resource: 'limits.memory' } },
  })
})

t.test('buildRunnerPod gives a pod that records videos a directory with room for one, and others none', async (t) => {
  const videoOf = <T extends { name: string }>(list: T[] = []) => list.filter(({ name }) => name === 'video')
  t.notOk('TINTYPE_VIDEO' in environment)
  t.strictSame(videoOf(pod.spec?.volumes), [])
  const { spec } = buildRunnerPod(aRunnerPool({ spec: { video: true } }), 0, settings)
  const [recorder] = spec?.containers ?? []
  const settingOf = (wanted: string) => recorder?.env?.find(({ name }) => name === wanted)?.value
  t.strictSame([settingOf('TINTYPE_VIDEO'), settingOf('TINTYPE_VIDEO_DIRECTORY')], ['true', '/var/lib/tintype/video'])
  t.match(videoOf(recorder?.volumeMounts), [{ mountPath: '/var/lib/tintype/video' }])
  t.strictSame(videoOf(spec?.volumes), [{ name: 'video', emptyDir: { sizeLimit: '840Mi' } }])
})

t.test('buildRunnerPod takes resources, time to start, seccomp profile and placement from the spec', async (t) => {
  const spec = {
    sandbox: { mode: 'required' as const, localhostProfile: 'profiles/chromium.json' },
    podTemplate: {
      ...pool.spec.podTemplate,
      resources: { limits: { memory: '4Gi' } },
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'captures', operator: 'Exists' as const }],
      runtimeClassName: 'gvisor',
    },
  }
  const built = buildRunnerPod(aRunnerPool({ spec: { ...spec, readinessGraceSeconds: 90 } }), 0, settings)
  t.match(built.spec?.containers[0]?.startupProbe, { periodSeconds: 1, failureThreshold: 90 })
  t.match(built.spec?.containers[0]?.resources, { requests: { cpu: '100m', memory: '512Mi' }, limits: { memory: '4Gi' } })
  t.match(built.spec, {
    nodeSelector: { disk: 'ssd', 'kubernetes.io/os': 'linux' },
    tolerations: [{ key: 'captures', operator: 'Exists' }],
    runtimeClassName: 'gvisor',
    securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'profiles/chromium.json' } },
  })
  t.notOk(built.spec && 'priorityClassName' in built.spec)
})

t.test('no runner starts on a Windows node', async (t) => {
  t.strictSame(buildRunnerPod(aRunnerPool(), 0, settings).spec?.nodeSelector, { 'kubernetes.io/os': 'linux' })
})

t.test('buildRunnerPod spreads the pods of a pool over the nodes, or as in the spec', async (t) => {
  const labelSelector = { matchLabels: { 'tintype.dev/pool': 'default' } }
  const byHost = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', labelSelector }
  t.strictSame(buildRunnerPod(aRunnerPool(), 0, settings).spec?.topologySpreadConstraints, [byHost])
  const topologySpreadConstraints = [{ topologyKey: 'zone', maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule' as const }]
  const spread = aRunnerPool({ spec: { podTemplate: { ...pool.spec.podTemplate, topologySpreadConstraints } } })
  t.strictSame(buildRunnerPod(spread, 0, settings).spec?.topologySpreadConstraints, [{ ...topologySpreadConstraints[0], labelSelector }])
})

t.test('buildRunnerPod applies labels and annotations of the spec, except those of the operator', async (t) => {
  const podTemplate = { ...pool.spec.podTemplate, labels: { team: 'web', 'tintype.dev/pool': 'foreign' }, annotations: { note: 'x' } }
  const { metadata } = buildRunnerPod(aRunnerPool({ spec: { podTemplate } }), 0, settings)
  t.match(metadata, { labels: { team: 'web', 'tintype.dev/pool': 'default' }, annotations: { note: 'x' } })
})

t.test('buildRunnerPod gives captures the grace period of the spec, minus the time for the browsers to exit', async (t) => {
  const graceOf = (terminationGracePeriodSeconds?: number) => {
    const podTemplate = { ...pool.spec.podTemplate, ...(terminationGracePeriodSeconds && { terminationGracePeriodSeconds }) }
    const { spec } = buildRunnerPod(aRunnerPool({ spec: { podTemplate } }), 0, settings)
    const { value } = spec?.containers[0]?.env?.find(({ name }) => name === 'TINTYPE_SHUTDOWN_GRACE_MILLISECONDS') ?? {}
    return [spec?.terminationGracePeriodSeconds, value]
  }
  t.strictSame(graceOf(), [30, '27000'])
  t.strictSame(graceOf(600), [600, '597000'])
})

const same = { ...pool.spec, minIdle: 7, maxPods: 50, capturesPerPod: 1, scaleDownDelaySeconds: 1, targetDrainSeconds: 1 }
t.test('templateHash does not change with the size of the pool, but with the content of its pods', async (t) => {
  const hash = templateHash(pool.spec, settings)
  t.equal(templateHash(same, settings), hash)
  const templates = [{ labels: { team: 'web' } }, { image: 'other' }].map((more) => ({ ...pool.spec.podTemplate, ...more }))
  const changes = [{ isolation: 'browser' as const }, { egress: {} }, { video: true }, ...templates.map((podTemplate) => ({ podTemplate }))]
  for (const change of changes) t.not(templateHash({ ...pool.spec, ...change }, settings), hash, JSON.stringify(change))
  t.not(templateHash(pool.spec, { ...settings, dispatchPublicKey: { x: 'rotated' } }), hash)
})

t.test('ordinalOf parses the number of podName', async (t) => {
  t.equal(ordinalOf({ metadata: { name: podName('my-pool-2', 31) } }), 31)
  t.equal(ordinalOf({ metadata: { name: 'stranger' } }), -1)
})

const deletionTimestamp = at(10).toISOString()
const unready = { ...readyStatus(), conditions: [{ type: 'Ready', status: 'False' }] }
const states = [
  { name: 'a pod that responds is ready', pod: aPod(), state: 'ready' },
  { name: 'a pod whose probe fails is waiting', pod: aPod({ status: unready }), state: 'waiting' },
  { name: 'a pod without an IP address is waiting', pod: aPod({ status: readyStatus('') }), state: 'waiting' },
  { name: 'a pod whose deletion was requested is terminating', pod: aPod({ deletionTimestamp }), state: 'terminating' },
  { name: 'a deleted pod that has ended has ended', pod: aPod({ status: endedStatus(0), deletionTimestamp }), state: 'ended' },
  { name: 'an evicted pod that never ran has ended', pod: aPod({ status: { phase: 'Failed', reason: 'Evicted' } }), state: 'ended' },
  { name: 'a deleted pod that failed may still run', pod: aPod({ status: { phase: 'Failed' }, deletionTimestamp }), state: 'terminating' },
]
for (const { name, pod, state } of states) t.test(`podState: ${name}`, async (t) => t.equal(podState(pod), state))

t.test('unschedulableReason returns the message of the scheduler', async (t) => {
  t.equal(unschedulableReason(aPod({ status: unschedulableStatus() })), 'Insufficient memory')
  const silent = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }
  t.equal(unschedulableReason(aPod({ status: { conditions: [silent] } })), 'no node fits')
  t.equal(unschedulableReason(aPod()), undefined)
})

t.test('waitingReason returns the message of the kubelet, and nothing during creation', async (t) => {
  const reasonOf = (waiting: { reason?: string; message?: string }) => waitingReason(aPod({ status: waitingStatus(waiting) }))
  t.strictSame(reasonOf({ reason: 'ErrImagePull', message: 'none' }), { isImage: true, text: 'ErrImagePull: none' })
  t.strictSame(reasonOf({ reason: 'RunContainerError' }), { isImage: false, text: 'RunContainerError' })
  t.equal(reasonOf({ reason: 'ContainerCreating' }), undefined)
  t.equal(waitingReason(aPod()), undefined)
})

t.test('unchangedSince is the last change of the condition Ready, else the creation', async (t) => {
  const since = at(5).toISOString()
  t.equal(unchangedSince(aPod({ status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] } })), at(5).getTime())
  t.equal(unchangedSince(aPod({ status: {} })), NOON.getTime())
})

const disrupted = (reason: string): Pod['status'] => ({
  ...readyStatus(),
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason }],
})
const evicted = (message: string): Pod['status'] => ({ phase: 'Failed', reason: 'Evicted', message })

const deleted = (status: Pod['status']): Pod => aPod({ status, deletionTimestamp })

const ends: { name: string; pod: Pod; cause: string; text: RegExp }[] = [
  { name: 'an unrequested kill', pod: aPod({ status: endedStatus(137) }), cause: 'killed', text: /137.*memory.*probe/ },
  { name: 'an exit code', pod: aPod({ status: endedStatus(3) }), cause: 'exited', text: /^exit code 3$/ },
  { name: 'a deleted pod that was killed after its grace period', pod: deleted(endedStatus(137)), cause: 'stopped', text: /was deleted/ },
  { name: 'out of memory of a deleted pod', pod: deleted(endedStatus(137, 'OOMKilled')), cause: 'outOfMemory', text: /memory/ },
  { name: 'a drain', pod: deleted(disrupted('EvictionByEvictionAPI')), cause: 'drained', text: /drained/ },
  { name: 'a preemption', pod: deleted(disrupted('PreemptionByScheduler')), cause: 'preempted', text: /priority/ },
  { name: 'a tainted node', pod: deleted(disrupted('DeletionByTaintManager')), cause: 'nodeLost', text: /node/ },
  { name: 'a removed node', pod: aPod({ status: disrupted('DeletionByPodGC') }), cause: 'nodeLost', text: /node was removed/ },
  { name: 'a node that shuts down', pod: aPod({ status: disrupted('TerminationByKubelet') }), cause: 'nodePressure', text: /shut down/ },
  {
    name: 'a node without memory',
    pod: aPod({ status: evicted('The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi.') }),
    cause: 'nodePressure',
    text: /^evicted: The node was low/,
  },
  {
    name: 'a pod that filled its disk',
    pod: aPod({ status: evicted('Usage of EmptyDir volume "tmp" exceeds the limit "2Gi". ') }),
    cause: 'overuse',
    text: /exceeds the limit "2Gi".$/,
  },
  {
    name: 'a pod that its node rejected',
    pod: aPod({ status: { phase: 'Failed', reason: 'OutOfmemory', message: 'Node didn’t have enough' } }),
    cause: 'exited',
    text: /^OutOfmemory: Node/,
  },
]
for (const { name, pod, cause, text } of ends) {
  t.test(`endOf recognizes ${name}`, async (t) => {
    const end = endOf(pod)
    t.equal(end?.cause, cause)
    t.match(end?.text, text)
  })
}

t.test('endOf returns nothing for a running pod', async (t) => t.equal(endOf(aPod()), undefined))

t.test('isPageSuspected is true only for ends that the page may have caused', async (t) => {
  const ofPage = ['outOfMemory', 'overuse', 'killed', 'exited', 'unknown'] as const
  const orderly = ['drained', 'preempted', 'stopped'] as const
  const ofNode = ['nodeLost', 'nodePressure'] as const
  type Cause = PodEnd['cause']
  assertAccepts<Cause>(t, (cause) => isPageSuspected({ cause, text: '' }), ofPage, [...orderly, ...ofNode])
  assertAccepts<Cause>(t, (cause) => isOrderly({ cause, text: '' }), orderly, [...ofPage, ...ofNode])
})

t.test('lastLogLineOf returns the most relevant line', async (t) => {
  const ended = (message: string) => {
    const status = endedStatus(1)
    const terminated = status.containerStatuses?.[0]?.state?.terminated
    if (terminated) terminated.message = message
    return aPod({ status })
  }
  t.equal(lastLogLineOf(ended('starting\nError: listen EADDRINUSE\n    at main\n\nNode.js v26\n')), 'Error: listen EADDRINUSE')
  t.equal(lastLogLineOf(ended('a\nlast\n')), 'last')
  t.equal(lastLogLineOf(aPod({ status: endedStatus(1) })), undefined)
})
