import t from 'tap'
import { buildRunnerPod } from '../../../operator/src/runner/pod.ts'
import { aRunnerPool } from '../../support/fakes/builders.ts'
import { type Container, type PodSpec, podsOf, renderChart } from '../../support/sources/chart.ts'

// The rules of OpenShift's security context constraint "restricted-v2", applied to every pod of the chart and to runner pods. OpenShift assigns user
// id, fsGroup and SELinux label from ranges of the namespace, so a pod that names them is rejected.

const VOLUMES = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret']
const RUNTIME_DEFAULT = '{"type":"RuntimeDefault"}'

interface Capabilities {
  add?: string[]
  drop?: string[]
}

function problemsOf(spec: PodSpec): string[] {
  const containers: (Container & { ports?: { hostPort?: number }[] })[] = [...(spec.initContainers ?? []), ...spec.containers]
  const pod = spec.securityContext ?? {}
  const problems: [boolean, string][] = [
    [spec.hostNetwork === true || spec.hostPID === true || spec.hostIPC === true, 'a namespace of the host'],
    [pod.fsGroup !== undefined, 'fsGroup'],
    [pod.sysctls !== undefined, 'sysctls'],
    ...(spec.volumes ?? []).map(({ name, ...sources }): [boolean, string] => [
      Object.keys(sources).some((source) => !VOLUMES.includes(source)),
      `volume ${name}`,
    ]),
    ...[pod, ...containers.map(({ securityContext = {} }) => securityContext)].flatMap((context): [boolean, string][] => [
      [context.runAsUser !== undefined, 'runAsUser'],
      [context.seLinuxOptions !== undefined, 'seLinuxOptions'],
      [context.seccompProfile !== undefined && JSON.stringify(context.seccompProfile) !== RUNTIME_DEFAULT, 'seccomp profile'],
    ]),
    ...containers.flatMap(({ securityContext = {}, ports = [] }): [boolean, string][] => {
      const { add = [], drop = [] } = (securityContext.capabilities ?? {}) as Capabilities
      return [
        [securityContext.privileged === true, 'privileged'],
        [securityContext.allowPrivilegeEscalation !== false, 'privilege escalation'],
        [!drop.includes('ALL') || add.some((name) => name !== 'NET_BIND_SERVICE'), 'capabilities'],
        [ports.some(({ hostPort }) => hostPort !== undefined), 'a port of the host'],
      ]
    }),
  ]
  return problems.flatMap(([isProblem, what]) => (isProblem ? [what] : []))
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

const pods = await podsFor('openshift')
t.ok(pods.length >= 9, 'the chart has seven pods or more, and there are two kinds of runners')
for (const { name, spec } of pods) {
  t.test(`OpenShift's restricted-v2 admits ${name}`, async (t) => {
    t.strictSame(problemsOf(spec), [])
    t.equal(spec.securityContext?.runAsNonRoot, true)
  })
}

t.test('control: with fixed ids, restricted-v2 rejects every pod', async (t) => {
  for (const { name, spec } of await podsFor('kubernetes')) t.strictSame(problemsOf(spec), ['fsGroup', 'runAsUser'], name)
})
