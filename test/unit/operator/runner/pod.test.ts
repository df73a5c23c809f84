import t from 'tap'
import { buildRunnerPod, ordinalOf, podName, templateHash } from '../../../../operator/src/runner/pod.ts'
import { aRunnerPool } from '../../../support/fakes/builders.ts'

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
  t.strictSame(pod.metadata?.ownerReferences, [
    {
      apiVersion: 'tintype.dev/v1alpha1',
      kind: 'RunnerPool',
      name: 'default',
      uid: pool.metadata.uid,
      controller: true,
    },
  ])
  t.match(pod.metadata?.labels, {
    'tintype.dev/pool': 'default',
    'tintype.dev/template-hash': templateHash(pool.spec, settings),
    'app.kubernetes.io/component': 'capture-runner',
  })
})

t.test('buildRunnerPod complies with the Pod Security level restricted', async (t) => {
  t.match(pod.spec?.securityContext, { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } })
  t.strictSame(container?.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  t.equal(pod.spec?.automountServiceAccountToken, false)
  t.equal(pod.spec?.enableServiceLinks, false)
  const kinds = (pod.spec?.volumes ?? []).flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'))
  t.ok(
    kinds.every((kind) => ['emptyDir', 'projected'].includes(kind)),
    String(kinds),
  )
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
  const nameOf = ({ name }: { name: string }) => name
  t.notOk('TINTYPE_VIDEO' in environment)
  t.notOk(pod.spec?.volumes?.map(nameOf).includes('video'))
  const { spec } = buildRunnerPod(aRunnerPool({ spec: { video: true } }), 0, settings)
  const [recorder] = spec?.containers ?? []
  const settingOf = (wanted: string) => recorder?.env?.find(({ name }) => name === wanted)?.value
  t.strictSame([settingOf('TINTYPE_VIDEO'), settingOf('TINTYPE_VIDEO_DIRECTORY')], ['true', '/var/lib/tintype/video'])
  t.match(
    recorder?.volumeMounts?.find(({ name }) => name === 'video'),
    { mountPath: '/var/lib/tintype/video' },
  )
  t.strictSame(
    spec?.volumes?.find(({ name }) => name === 'video'),
    { name: 'video', emptyDir: { sizeLimit: '840Mi' } },
  )
})

t.test('buildRunnerPod takes resources, seccomp profile and placement from the spec', async (t) => {
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
  const built = buildRunnerPod(aRunnerPool({ spec }), 0, settings)
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
    const podTemplate = {
      ...pool.spec.podTemplate,
      ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
    }
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
  t.not(templateHash({ ...pool.spec, isolation: 'browser' }, settings), hash)
  t.not(templateHash({ ...pool.spec, egress: {} }, settings), hash)
  t.not(templateHash({ ...pool.spec, video: true }, settings), hash)
  t.not(templateHash({ ...pool.spec, podTemplate: { ...pool.spec.podTemplate, labels: { team: 'web' } } }, settings), hash)
  t.not(templateHash({ ...pool.spec, podTemplate: { ...pool.spec.podTemplate, image: 'other' } }, settings), hash)
  t.not(templateHash(pool.spec, { ...settings, dispatchPublicKey: { x: 'rotated' } }), hash)
})

t.test('ordinalOf parses the number of podName', async (t) => {
  t.equal(ordinalOf({ metadata: { name: podName('my-pool-2', 31) } }), 31)
  t.equal(ordinalOf({ metadata: { name: 'stranger' } }), -1)
})
