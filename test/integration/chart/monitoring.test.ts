import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { ensureChartTools } from '../../chart/tools.ts'
import { run } from '../../cluster/host/exec.ts'
import { repository } from '../../cluster/host/state.ts'
import { assertEvery, assertSome } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { find, renderChart } from '../../support/sources/chart.ts'
import { startWorld } from '../api-gateway/world.ts'
import { startProgram } from '../operator/program.ts'

// Prometheus and Grafana accept the alerts and the dashboard, alerts fire when they should, and a running operator or gateway exports each
// metric that they use.

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[]
}
interface Rules {
  groups: { name: string; rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[]
}

const tools = await ensureChartTools()
const objects = await renderChart({ 'metrics.alerts.enabled': true, 'metrics.dashboard.enabled': true })
const rules = find<{ spec: Rules }>(objects, 'PrometheusRule', 'tintype').spec
const configMap = find<{ data: Record<string, string> }>(objects, 'ConfigMap', 'tintype-dashboard')
const dashboard = JSON.parse(configMap.data['tintype.json'] ?? '') as Dashboard
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const alerts = rules.groups.flatMap(({ rules: group }) => group)
const directory = t.testdir()

/** Replaces the namespace and interval as Grafana does. */
const filledIn = (query: string): string => query.replaceAll('$namespace', 'tintype').replaceAll('$__rate_interval', '5m')
const metricsOf = (query: string): string[] => [...query.matchAll(/([a-z_][a-z0-9_]*)\{/g)].map(([, name = '']) => name)

t.test('Prometheus accepts every alert, and each fires only when it should', async (t) => {
  await writeFile(path.join(directory, 'rules.yaml'), stringify(rules))
  t.match(await run(tools.promtool, ['check', 'rules', path.join(directory, 'rules.yaml')]), new RegExp(`${alerts.length} rules found`))
  await run('cp', [path.join(repository, 'test/chart/alerts.test.yaml'), directory])
  t.match(await run(tools.promtool, ['test', 'rules', path.join(directory, 'alerts.test.yaml')]), /SUCCESS/)
})

t.test('every alert has a test, and docs/operations.md says what to do', async (t) => {
  const [tests = '', guide = ''] = await Promise.all(
    ['test/chart/alerts.test.yaml', 'docs/operations.md'].map((file) => readFile(path.join(repository, file), 'utf8')),
  )
  const parsed = parse(tests) as { tests: { alert_rule_test?: { alertname: string; exp_alerts: object[] }[] }[] }
  const fired = parsed.tests.flatMap(({ alert_rule_test: all = [] }) => all.filter(({ exp_alerts }) => exp_alerts.length > 0))
  for (const { alert } of alerts) {
    assertSome(t, fired, ({ alertname }) => alertname === alert, `${alert} is tested`)
    t.ok(guide.includes(alert), `${alert} is explained`)
  }
})

t.test('Prometheus accepts every query of the dashboard', async (t) => {
  const records = queries.map((query, index) => ({ record: `query:${index}`, expr: filledIn(query) }))
  const file = path.join(directory, 'dashboard.yaml')
  await writeFile(file, stringify({ groups: [{ name: 'dashboard', rules: records }] }))
  t.match(await run(tools.promtool, ['check', 'rules', '--lint=none', file]), new RegExp(`${queries.length} rules found`))
})

t.test('Grafana finds the dashboard by its label', async (t) => {
  t.match(configMap.metadata.labels, { grafana_dashboard: '1' })
  t.ok(dashboard.panels.length > 20)
})

t.test('a running operator and gateway export every metric of the dashboard and the alerts', async (t) => {
  const world = await startWorld()
  t.teardown(() => world.stop())
  const operator = await startProgram(
    t,
    {
      TINTYPE_NAMESPACE: world.plane.namespace,
      TINTYPE_POD_NAME: 'operator',
      TINTYPE_POD_UID: 'operator-uid',
      ...world.operatorStorage,
    },
    world.operatorAccount,
  )
  const gateway = await world.startGateway()
  await eventually('the operator leads', () => operator.isLeader())
  const texts = [(await operator.get('/metrics')).text, await (await fetch(`${gateway.metricsUrl}/metrics`)).text()]
  const told = new Set(texts.flatMap(namesIn))
  const asked = new Set([...queries, ...alerts.map(({ expr }) => expr)].flatMap(metricsOf))
  t.ok(asked.size > 40, 'control: dashboard and alerts use metrics')
  assertEvery(t, [...asked], (name) => told.has(name))
})

/** Names of the time series of each metric, by its type. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  )
}
