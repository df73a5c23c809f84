import t from 'tap'
import { buildRunnerPod } from '../../../operator/src/runner/pod.ts'
import { assertEvery } from '../../support/accepts.ts'
import { aRunnerPool } from '../../support/fakes/builders.ts'
import { type Container, find, type PodSpec, podsOf, type Rendered, refusal, renderChart } from '../../support/sources/chart.ts'

// Pods of the chart: Pod Security level "restricted" and further limits, the rules of OpenShift, and additions of a user. The operator creates runner
// pods: its own tests check Pod Security for them.

const ALLOWED_VOLUMES = ['configMap', 'downwardAPI', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret']
/** What OpenShift's security context constraint "restricted-v2" allows besides. */
const VOLUMES_OF_OPENSHIFT = [...ALLOWED_VOLUMES, 'csi', 'ephemeral']
const RUNTIME_DEFAULT = '{"type":"RuntimeDefault"}'
const objects = await renderChart({ 'ingress.enabled': true, 'metrics.podMonitor.enabled': true })

type Problems = [isProblem: boolean, what: string][]
const named = (problems: Problems): string[] => problems.flatMap(([isProblem, what]) => (isProblem ? [what] : []))
const containersOf = ({ initContainers = [], containers }: PodSpec) => [...initContainers, ...containers]
const usesHost = ({ hostNetwork, hostPID, hostIPC }: PodSpec) => hostNetwork === true || hostPID === true || hostIPC === true
const otherVolumes = ({ volumes = [] }: PodSpec, allowed: readonly string[]): Problems =>
  volumes.map(({ name, ...sources }) => [Object.keys(sources).some((source) => !allowed.includes(source)), `volume ${name}`])

const problemsOf = (spec: PodSpec): string[] => {
  const pod = spec.securityContext ?? {}
  return named([
    [usesHost(spec), 'a namespace of the host'],
    [pod.runAsNonRoot !== true, 'may run as root'],
    [pod.runAsUser !== 10_001, 'another user than 10001'],
    [(pod.seccompProfile as { type?: string } | undefined)?.type !== 'RuntimeDefault', 'no seccomp profile'],
    [spec.enableServiceLinks !== false, 'service links in the environment'],
    [spec.automountServiceAccountToken !== false && spec.serviceAccountName === undefined, 'a token of the default account'],
    ...otherVolumes(spec, ALLOWED_VOLUMES),
    ...containersOf(spec).flatMap(
      ({ name, securityContext: own = {}, resources }): Problems => [
        [own.allowPrivilegeEscalation !== false, `${name} may gain privileges`],
        [own.readOnlyRootFilesystem !== true, `${name} may write to its image`],
        [own.privileged === true, `${name} is privileged`],
        [JSON.stringify(own.capabilities) !== '{"drop":["ALL"]}', `${name} keeps capabilities`],
        [resources?.limits?.memory === undefined, `${name} has no memory limit`],
        [resources?.requests?.cpu === undefined || resources.requests.memory === undefined, `${name} requests nothing`],
      ],
    ),
  ])
}

t.test('chart creates exactly the expected pods', async (t) => {
  t.strictSame(
    podsOf(objects)
      .map(({ name }) => name)
      .sort(),
    [
      'Deployment tintype-api-gateway',
      'Deployment tintype-operator',
      'Job tintype-crd-upgrade',
      'Job tintype-storage-setup-1',
      'Pod tintype-network-test-runner',
      'Pod tintype-network-test-stranger',
      'StatefulSet tintype-minio',
    ],
  )
})

for (const [store, rendered] of [
  ['minio', objects],
  ['versitygw', await renderChart({ store: 'versitygw' })],
] as const) {
  t.test(`chart with ${store} meets Pod Security "restricted" in each pod`, async (t) => {
    for (const { name, spec } of podsOf(rendered)) t.strictSame(problemsOf(spec), [], name)
  })
}

const COMPONENTS = ['gateway', 'operator', 'runner', 'runner.video', 'minio']
const limits = Object.fromEntries(COMPONENTS.map((component) => [`${component}.resources.limits.cpu`, '1']))
const more = { 'seccompInstaller.enabled': true, 'operator.nodeSelector': { disk: 'ssd' }, ...limits }
const [withMinio, withVersitygw] = [podsOf(await renderChart(more)), podsOf(await renderChart({ ...more, store: 'versitygw' }))]

t.test('in a namespace with a quota for limits.cpu, every container has the limit if all components have one', async (t) => {
  for (const pods of [withMinio, withVersitygw]) {
    const containers = pods.flatMap(({ spec }) => containersOf(spec))
    assertEvery(t, containers, ({ resources }) => resources?.limits?.cpu !== undefined)
    t.ok(containers.length > 6)
  }
})

t.test('no pod of the chart starts on a Windows node, whatever other labels are asked for', async (t) => {
  for (const pods of [withMinio, withVersitygw]) {
    assertEvery(t, pods, ({ spec }) => spec.nodeSelector?.['kubernetes.io/os'] === 'linux')
    t.match(pods.find(({ name }) => name.endsWith('tintype-operator'))?.spec.nodeSelector, { disk: 'ssd' })
  }
})

t.test('chart has one unrestricted pod, the installer of seccomp profiles, which is off by default and in another namespace', async (t) => {
  const installer = (await renderChart(more)).find(({ kind }) => kind === 'DaemonSet')
  t.match(installer?.metadata, { name: 'tintype-seccomp-installer', namespace: 'kube-system' })
  t.strictSame(
    withMinio.filter(({ spec }) => problemsOf(spec).length > 0).map(({ name }) => name),
    ['DaemonSet tintype-seccomp-installer'],
  )
})

t.test('chart mounts a token only in pods that call the API server', async (t) => {
  const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount') as {
    metadata: { name: string }
    automountServiceAccountToken?: boolean
  }[]
  t.strictSame(
    Object.fromEntries(accounts.map(({ metadata, automountServiceAccountToken }) => [metadata.name, automountServiceAccountToken])),
    {
      'tintype-api-gateway': true,
      'tintype-capture-runner': false,
      'tintype-storage-setup': false,
      'tintype-operator': true,
      'tintype-crd-upgrade': true,
    },
  )
})

interface Capabilities {
  add?: string[]
  drop?: string[]
}

/** OpenShift assigns user id, fsGroup and SELinux label from ranges of the namespace, so a pod that names them is rejected. */
function problemsOnOpenShift(spec: PodSpec): string[] {
  const containers: (Container & { ports?: { hostPort?: number }[] })[] = containersOf(spec)
  const pod = spec.securityContext ?? {}
  return named([
    [usesHost(spec), 'a namespace of the host'],
    [pod.fsGroup !== undefined, 'fsGroup'],
    [pod.sysctls !== undefined, 'sysctls'],
    ...otherVolumes(spec, VOLUMES_OF_OPENSHIFT),
    ...[pod, ...containers.map(({ securityContext = {} }) => securityContext)].flatMap(
      (context): Problems => [
        [context.runAsUser !== undefined, 'runAsUser'],
        [context.seLinuxOptions !== undefined, 'seLinuxOptions'],
        [context.seccompProfile !== undefined && JSON.stringify(context.seccompProfile) !== RUNTIME_DEFAULT, 'seccomp profile'],
      ],
    ),
    ...containers.flatMap(({ securityContext = {}, ports = [] }): Problems => {
      const { add = [], drop = [] } = (securityContext.capabilities ?? {}) as Capabilities
      return [
        [securityContext.privileged === true, 'privileged'],
        [securityContext.allowPrivilegeEscalation !== false, 'privilege escalation'],
        [!drop.includes('ALL') || add.some((name) => name !== 'NET_BIND_SERVICE'), 'capabilities'],
        [ports.some(({ hostPort }) => hostPort !== undefined), 'a port of the host'],
      ]
    }),
  ])
}

const runnerPod = (platform: 'kubernetes' | 'openshift', isVideo: boolean) => {
  const settings = { namespace: 'tintype', release: 'tintype', logLevel: 'info', platform, dispatchPublicKey: {}, maxFileBytes: 1024 }
  const pod = buildRunnerPod(aRunnerPool({ spec: isVideo ? { video: true } : {} }), 1, settings)
  return { name: isVideo ? 'runner that records videos' : 'runner', spec: pod.spec as PodSpec }
}
const podsFor = async (platform: 'kubernetes' | 'openshift') => [
  ...podsOf(await renderChart({ platform })),
  runnerPod(platform, false),
  runnerPod(platform, true),
]

t.test("OpenShift's restricted-v2 admits each pod of the chart, and runners", async (t) => {
  const pods = await podsFor('openshift')
  t.ok(pods.length >= 9, 'the chart has seven pods or more, and there are two kinds of runners')
  for (const { name, spec } of pods) {
    t.strictSame(problemsOnOpenShift(spec), [], name)
    t.equal(spec.securityContext?.runAsNonRoot, true, name)
  }
})

t.test('control: with fixed ids, restricted-v2 rejects every pod', async (t) => {
  for (const { name, spec } of await podsFor('kubernetes')) t.strictSame(problemsOnOpenShift(spec), ['fsGroup', 'runAsUser'], name)
})

interface Workload {
  spec: { selector: { matchLabels: object }; template: { metadata: { labels: Record<string, string> }; spec: { containers: Container[] } } }
}
const deploymentOf = (rendered: readonly Rendered[], program: string) => find<Workload>(rendered, 'Deployment', `tintype-${program}`).spec

const LABELS = { team: 'web', 'example.com/tier': '1' }
const VARIABLES = [
  { name: 'NODE_OPTIONS', value: '--max-old-space-size=200' },
  { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'mine', key: 'token' } } },
]
const additions = ['gateway', 'operator'].flatMap((section) => [
  [`${section}.podLabels`, LABELS],
  [`${section}.extraEnv`, VARIABLES],
])
/** Service accounts by the section of the values that annotates them. */
const ACCOUNTS = { gateway: 'api-gateway', operator: 'operator', runner: 'capture-runner', 'minio.setup': 'storage-setup' }
const annotations = Object.keys(ACCOUNTS).map((section) => [
  `${section}.serviceAccount.annotations`,
  { 'eks.amazonaws.com/role-arn': `arn:${section}` },
])
const extended = await renderChart({
  ...Object.fromEntries([...additions, ...annotations]),
  ...{ 'runner.podLabels': { team: 'web' }, 'runner.podAnnotations': { 'example.com/a': 'b' } },
})

for (const [section, program] of [
  ['gateway', 'api-gateway'],
  ['operator', 'operator'],
] as const) {
  t.test(`chart adds labels to the pods of the ${program}, but not to its selector`, async (t) => {
    const { selector, template } = deploymentOf(extended, program)
    t.match(template.metadata.labels, { ...LABELS, 'app.kubernetes.io/component': program })
    t.notHas(selector.matchLabels, { team: 'web' })
    t.match(template.metadata.labels, selector.matchLabels)
  })

  t.test(`chart adds variables to the ${program}, and rejects one that the chart sets itself`, async (t) => {
    const environmentIn = (rendered: readonly Rendered[]) => deploymentOf(rendered, program).template.spec.containers[0]?.env ?? []
    const before = environmentIn(objects)
    t.ok(before.length > 10)
    t.strictSame(environmentIn(extended), [...before, ...VARIABLES])
    for (const name of ['TINTYPE_LOG_LEVEL', 'TINTYPE_STORAGE_SECRET_KEY', before.at(-1)?.name])
      t.match(
        await refusal({ [`${section}.extraEnv`]: [{ name, value: 'mine' }] }),
        `${section}.extraEnv sets ${name}, which the chart sets itself`,
      )
    t.match(await refusal({ [`${section}.extraEnv`]: [VARIABLES[0], VARIABLES[0]] }), `${section}.extraEnv sets NODE_OPTIONS`)
  })
}

t.test('chart adds labels and annotations to runner pods through their pool', async (t) => {
  const { spec } = find<{ spec: { podTemplate: object } }>(extended, 'RunnerPool', 'default')
  t.match(spec.podTemplate, { labels: { team: 'web' }, annotations: { 'example.com/a': 'b' } })
})

for (const [section, name, owner] of [
  ['gateway', 'app.kubernetes.io/component', 'chart'],
  ['runner', 'app.kubernetes.io/component', 'chart'],
  ['runner', 'tintype.dev/pool', 'operator'],
  ['runner', 'tintype.dev/mine', 'operator'],
] as const) {
  t.test(`chart rejects the label ${name} of pods of the ${section}`, async (t) => {
    const message = `${section}.podLabels sets ${name}, which the ${owner} sets itself`
    t.match(await refusal({ [`${section}.podLabels`]: { [name]: 'mine' } }), message)
  })
}

t.test('chart annotates the service account of each program with its own values', async (t) => {
  for (const [section, account] of Object.entries(ACCOUNTS)) {
    t.equal(find(objects, 'ServiceAccount', `tintype-${account}`).metadata.annotations, undefined)
    t.match(find(extended, 'ServiceAccount', `tintype-${account}`).metadata.annotations, {
      'eks.amazonaws.com/role-arn': `arn:${section}`,
    })
  }
  const setup = podsOf(extended).find(({ name }) => name.startsWith('Job tintype-storage-setup'))
  t.equal(setup?.spec.serviceAccountName, 'tintype-storage-setup')
})

t.test('helm test prints the output of each of its pods and deletes the pod, also after a failure', async (t) => {
  const tests = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test')
  t.equal(tests.length, 2)
  for (const { metadata } of tests)
    t.match(metadata.annotations, {
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded,hook-failed',
      'helm.sh/hook-output-log-policy': 'hook-succeeded,hook-failed',
    })
})
