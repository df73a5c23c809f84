import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { findReason, readReasons, runCheckov, runKubeScore } from '../../chart/findings.ts'
import { exportSchemas, SCHEMA_LOCATION } from '../../chart/schemas.ts'
import { ensureChartTools } from '../../chart/tools.ts'
import { CommandError, run } from '../../cluster/host/exec.ts'
import { assertEvery } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { chartDirectory, type Rendered, renderChart } from '../../support/sources/chart.ts'
import { startPlane } from '../client/plane.ts'

// External checkers on the chart with all optional parts enabled, rendered as for the cluster.

const NAMESPACE = 'tintype'
const everything = {
  'ingress.enabled': true,
  'ingress.host': 'shots.example.com',
  'ingress.tls.enabled': true,
  'priorityClass.create': true,
  'seccompInstaller.enabled': true,
  'metrics.podMonitor.enabled': true,
  'metrics.alerts.enabled': true,
  'metrics.dashboard.enabled': true,
  'tracing.endpoint': 'http://collector.observability:4318',
}
/** Kinds of the Prometheus operator, which the API server does not know. promtool checks their rules. */
const FOREIGN_KINDS = ['PodMonitor', 'PrometheusRule']

/** YAML 1.1, in which `off` and `no` are booleans. */
const YAML_OF_GO = { version: '1.1' } as const

const tools = await ensureChartTools()
const plane = await startPlane(t)
const file = path.join(plane.directory, 'chart.yaml')
const objects = (await renderChart(everything)).map(inNamespace)
await writeFile(file, objects.map((object) => stringify(object, YAML_OF_GO)).join('---\n'))

/** Helm applies objects without a namespace in the release's namespace. */
function inNamespace(object: Rendered): Rendered {
  const isGlobal = /^(Cluster|Validating|FlowSchema|Priority)/.test(object.kind)
  return isGlobal ? object : { ...object, metadata: { namespace: NAMESPACE, ...object.metadata } }
}

t.test('the chart fits the schemas that the API server publishes', async (t) => {
  const http = plane.connect(t)
  await eventually('the API server publishes the schemas of Tintype’s kinds', () => isPublished(http))
  const used = new Set(objects.filter(({ kind }) => !FOREIGN_KINDS.includes(kind)).map(({ apiVersion }) => apiVersion))
  const schemas = path.join(plane.directory, 'schemas')
  await exportSchemas(http, [...used, 'apiextensions.k8s.io/v1'], schemas)
  const definitions = (await readdir(path.join(chartDirectory, 'crds'))).map((name) => path.join(chartDirectory, 'crds', name))
  const flags = ['-strict', '-summary', '-schema-location', path.join(schemas, SCHEMA_LOCATION), '-skip', FOREIGN_KINDS.join()]
  const conform = (...files: string[]) => run(tools.kubeconform, [...flags, ...files])

  t.match(await conform(file, ...definitions), /Valid: [1-9]\d+, Invalid: 0, Errors: 0/)

  const wrong = path.join(plane.directory, 'wrong.yaml')
  const [deployment] = objects.filter(({ kind }) => kind === 'Deployment') as [{ spec: object } & Rendered]
  await writeFile(wrong, stringify({ ...deployment, spec: { ...deployment.spec, replica: 2 } }))
  await t.rejects(conform(wrong), CommandError, 'control: an unknown field is found')
})

/** The API server publishes the schemas of new kinds a moment after they are served. */
const isPublished = async (http: KubeHttp) =>
  JSON.stringify(await http.request({ method: 'GET', path: '/openapi/v3' })).includes('apis/tintype.dev/v1alpha1')

t.test('every finding of kube-score and checkov in the chart has a written reason, and every reason has a finding', async (t) => {
  const findings = [...(await runKubeScore(tools.kubeScore, file)), ...(await runCheckov(tools.checkov, file))]
  const reasons = await readReasons()
  assertEvery(t, findings, (finding) => findReason(finding, reasons))
  const needed = new Set(findings.map((finding) => findReason(finding, reasons)))
  assertEvery(t, reasons, (reason) => needed.has(reason))
  t.comment(`${findings.length} findings, ${reasons.length} reasons`)
})

t.test('control: kube-score and checkov find problems in a chart', async (t) => {
  const careless = path.join(plane.directory, 'careless.yaml')
  const container = { name: 'main', image: 'registry.example/main', securityContext: { privileged: true } }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'careless', namespace: NAMESPACE },
    spec: { hostNetwork: true, containers: [container] },
  }
  await writeFile(careless, stringify(pod))
  const rules = [...(await runKubeScore(tools.kubeScore, careless)), ...(await runCheckov(tools.checkov, careless))].map(({ rule }) => rule)
  for (const rule of ['container-security-context-privileged', 'pod-networkpolicy', 'CKV_K8S_16', 'CKV_K8S_19'])
    t.ok(rules.includes(rule), rule)
})
