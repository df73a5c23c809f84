import { readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { assertEvery } from '../../support/accepts.ts'
import { chartDirectory, environmentOf, renderChart } from '../../support/sources/chart.ts'

// Each file of charts/tintype/examples installs: its values fit the schema, and it renders what its name says.

const folder = path.join(chartDirectory, 'examples')
const render = (file: string) => renderChart({}, ['--values', path.join(folder, file)])
const expectations: Record<string, { kinds: string[]; without: string[]; publicUrl: string; platform?: string }> = {
  'contour.yaml': { kinds: ['Ingress'], without: ['HTTPRoute'], publicUrl: 'https://shots.example.com' },
  'external-s3.yaml': { kinds: ['Deployment'], without: ['StatefulSet', 'Ingress'], publicUrl: '' },
  'http-route.yaml': { kinds: ['HTTPRoute'], without: ['Ingress'], publicUrl: 'https://shots.example.com' },
  'ingress-nginx.yaml': { kinds: ['Ingress'], without: ['HTTPRoute'], publicUrl: 'https://shots.example.com' },
  'minimal.yaml': { kinds: ['StatefulSet'], without: ['Ingress', 'HTTPRoute'], publicUrl: '' },
  'openshift.yaml': { kinds: ['Ingress'], without: ['DaemonSet'], publicUrl: 'https://shots.apps.example.com', platform: 'openshift' },
  'production.yaml': {
    kinds: ['DaemonSet', 'PodMonitor', 'PrometheusRule', 'PriorityClass'],
    without: ['Ingress'],
    publicUrl: 'https://shots.example.com',
  },
}

t.test('every example of the chart has an expectation', async (t) => {
  t.strictSame(readdirSync(folder).sort(), Object.keys(expectations).sort())
})

for (const [file, { kinds, without, publicUrl, platform = 'kubernetes' }] of Object.entries(expectations)) {
  t.test(`chart renders the example ${file}`, async (t) => {
    const objects = await render(file)
    const rendered = new Set(objects.map(({ kind }) => kind))
    for (const kind of kinds) t.ok(rendered.has(kind), kind)
    for (const kind of without) t.notOk(rendered.has(kind), kind)
    t.equal(environmentOf(objects, 'Deployment tintype-api-gateway').TINTYPE_PUBLIC_URL, publicUrl)
    t.equal(environmentOf(objects, 'Deployment tintype-operator').TINTYPE_PLATFORM, platform)
  })
}

/** Objects without a namespace: the API server has one of each name. */
const CLUSTER_SCOPED =
  /^(ClusterRole|ClusterRoleBinding|ValidatingAdmissionPolicy|ValidatingAdmissionPolicyBinding|FlowSchema|PriorityLevelConfiguration|PriorityClass)$/

t.test('two releases with the same name, in two namespaces, share no cluster-scoped object and no seccomp profile', async (t) => {
  const everything = { 'seccompInstaller.enabled': true, 'priorityClass.create': true }
  const namesIn = async (namespace: string) =>
    (await renderChart(everything, ['--namespace', namespace]))
      .filter(({ kind, metadata }) => CLUSTER_SCOPED.test(kind) || metadata.namespace === 'kube-system')
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  const [first, second] = [await namesIn('team-a'), await namesIn('team-b')]
  t.ok(first.length >= 10, 'control: there are such objects')
  assertEvery(t, first, (name) => !second.includes(name))
})
