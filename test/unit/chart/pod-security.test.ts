import t from 'tap'
import { type PodSpec, podsOf, renderChart } from '../../support/sources/chart.ts'

// Pod Security level "restricted", and further limits of the chart. The operator creates runner pods: its own tests check the same for
// them.

const ALLOWED_VOLUMES = ['configMap', 'downwardAPI', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret']
const objects = await renderChart({ 'ingress.enabled': true, 'metrics.podMonitor.enabled': true })

const problemsOf = (spec: PodSpec): string[] => {
  const pod = spec.securityContext ?? {}
  const problems: [boolean, string][] = [
    [spec.hostNetwork === true || spec.hostPID === true || spec.hostIPC === true, 'a namespace of the host'],
    [pod.runAsNonRoot !== true, 'may run as root'],
    [pod.runAsUser !== 10_001, 'another user than 10001'],
    [(pod.seccompProfile as { type?: string } | undefined)?.type !== 'RuntimeDefault', 'no seccomp profile'],
    [spec.enableServiceLinks !== false, 'service links in the environment'],
    [spec.automountServiceAccountToken !== false && spec.serviceAccountName === undefined, 'a token of the default account'],
    ...(spec.volumes ?? []).map((volume): [boolean, string] => [
      !Object.keys(volume).every((key) => key === 'name' || ALLOWED_VOLUMES.includes(key)),
      `volume ${volume.name}`,
    ]),
    ...[...(spec.initContainers ?? []), ...spec.containers].flatMap(
      ({ name, securityContext: own = {}, resources }): [boolean, string][] => [
        [own.allowPrivilegeEscalation !== false, `${name} may gain privileges`],
        [own.readOnlyRootFilesystem !== true, `${name} may write to its image`],
        [own.privileged === true, `${name} is privileged`],
        [JSON.stringify(own.capabilities) !== '{"drop":["ALL"]}', `${name} keeps capabilities`],
        [resources?.limits?.memory === undefined, `${name} has no memory limit`],
        [resources?.requests?.cpu === undefined || resources.requests.memory === undefined, `${name} requests nothing`],
      ],
    ),
  ]
  return problems.flatMap(([isProblem, what]) => (isProblem ? [what] : []))
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

for (const { name, spec } of podsOf(objects)) {
  t.test(`chart meets Pod Security "restricted" in ${name}`, async (t) => t.strictSame(problemsOf(spec), []))
}

for (const { name, spec } of podsOf(await renderChart({ store: 'versitygw' }))) {
  t.test(`chart with versitygw meets Pod Security "restricted" in ${name}`, async (t) => t.strictSame(problemsOf(spec), []))
}

const EVERYTHING = { 'seccompInstaller.enabled': true }
const COMPONENTS = ['gateway', 'operator', 'runner', 'runner.video', 'minio']

t.test('in a namespace with a quota for limits.cpu, every container has the limit if all components have one', async (t) => {
  const limits = Object.fromEntries(COMPONENTS.map((component) => [`${component}.resources.limits.cpu`, '1']))
  for (const store of ['minio', 'versitygw']) {
    const pods = podsOf(await renderChart({ ...EVERYTHING, ...limits, store }))
    const containers = pods.flatMap(({ name, spec }) =>
      [...(spec.initContainers ?? []), ...spec.containers].map((one) => ({ pod: name, ...one })),
    )
    t.strictSame(
      containers.filter(({ resources }) => resources?.limits?.cpu === undefined).map(({ pod, name }) => `${pod}: ${name}`),
      [],
    )
    t.ok(containers.length > 6)
  }
})

t.test('no pod of the chart starts on a Windows node, whatever other labels are asked for', async (t) => {
  for (const store of ['minio', 'versitygw']) {
    const pods = podsOf(await renderChart({ ...EVERYTHING, store, 'operator.nodeSelector': { disk: 'ssd' } }))
    t.strictSame(
      pods.filter(({ spec }) => spec.nodeSelector?.['kubernetes.io/os'] !== 'linux').map(({ name }) => name),
      [],
    )
    t.match(pods.find(({ name }) => name.endsWith('tintype-operator'))?.spec.nodeSelector, { disk: 'ssd' })
  }
})

t.test('chart has one unrestricted pod, the installer of seccomp profiles, which is off by default and in another namespace', async (t) => {
  const more = await renderChart({ 'seccompInstaller.enabled': true })
  const installer = more.find(({ kind }) => kind === 'DaemonSet')
  t.match(installer?.metadata, { name: 'tintype-seccomp-installer', namespace: 'kube-system' })
  t.strictSame(
    podsOf(more)
      .filter(({ spec }) => problemsOf(spec).length > 0)
      .map(({ name }) => name),
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
