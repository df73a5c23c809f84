import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { customResourceDefinitions, namespaces, runnerPools } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { runSetup } from '../../../operator/src/setup/run-setup.ts'
import { run } from '../../cluster/host/exec.ts'
import { startOwnPlane } from '../../support/processes/own-plane.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { find, renderChart } from '../../support/sources/chart.ts'

// The chart's hook, run manually on a real API server that runs no pods: its ConfigMap as files, its ClusterRole for the user.

const plane = await startOwnPlane(t)
const admin = new KubeHttp(await accessPlane(plane.kubeconfigPath))
t.teardown(() => admin.close())
const definitions = new Resource(admin, customResourceDefinitions)
const kubectl = (args: string[], input = '') =>
  run(path.join(plane.programs, 'kubectl'), ['--kubeconfig', plane.kubeconfigPath, ...args], { input })

const objects = await renderChart()
const { data } = find<{ data: Record<string, string> }>(objects, 'ConfigMap', 'tintype-crd-upgrade')
const mounted = path.join(plane.directory, 'definitions')
await mkdir(mounted)
for (const [name, text] of Object.entries(data)) await writeFile(path.join(mounted, name), text)

const role = find(objects, 'ClusterRole', 'tintype-crd-upgrade')
await kubectl(['apply', '-f', '-'], JSON.stringify(role))
await kubectl(['create', 'clusterrolebinding', 'upgrader', '--clusterrole=tintype-crd-upgrade', '--user=upgrader'])
const KUBECONFIG = await plane.kubeconfigFor('upgrader')
const applyCrds = () => runSetup('apply-crds', [mounted], { KUBECONFIG })

const pools = 'runnerpools.tintype.dev'
const hasEgress = async () => {
  const { spec } = await definitions.get(pools)
  return spec.versions[0]?.schema?.openAPIV3Schema?.properties?.spec?.properties?.egress !== undefined
}

t.test('apply-crds creates missing kinds, with the permissions of the hook', async (t) => {
  await applyCrds()
  const { items } = await definitions.list()
  t.equal(items.length, Object.keys(data).length)
  t.ok(items.every(({ status }) => status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')))
})

t.test('apply-crds updates kinds that Helm installed from an older chart', async (t) => {
  await definitions.delete(pools)
  await kubectl(['wait', '--for=delete', `crd/${pools}`, '--timeout=120s'])
  const old = JSON.parse(data[`tintype.dev_runnerpools.json`] ?? '')
  delete old.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.egress
  await kubectl(['create', '-f', '-'], JSON.stringify(old))
  t.notOk(await hasEgress(), 'the control')
  await applyCrds()
  t.ok(await hasEgress())
})

t.test('apply-crds does not change objects', async (t) => {
  await new Resource(admin, namespaces).create({ metadata: { name: 'tintype' } })
  const pool = find<{ spec: object }>(objects, 'RunnerPool', 'default')
  await kubectl(['create', '-n', 'tintype', '-f', '-'], JSON.stringify(pool))
  await applyCrds()
  t.match(await new Resource(admin, runnerPools, { namespace: 'tintype' }).get('default'), { spec: pool.spec })
})

t.test('apply-crds rejects a directory without definitions and an unknown command', async (t) => {
  await t.rejects(runSetup('apply-crds', [path.join(plane.directory, 'pki')], { KUBECONFIG }), { message: /no definitions/ })
  await t.rejects(runSetup('apply-crd', [mounted], {}), { message: /unknown command: apply-crd .*\. Use setup-storage, apply-crds/ })
})
