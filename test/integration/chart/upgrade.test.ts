import path from 'node:path'
import t from 'tap'
import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { namespaces, secrets } from '../../../crds/client/core-resources.ts'
import { runnerPools, screenshots } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { run } from '../../cluster/exec.ts'
import { chartDirectory, helm } from '../../support/chart.ts'
import { startOwnPlane } from '../../support/own-plane.ts'

// What Helm does to a release over its life, on a real API server that runs no pods; hooks are tried in test/integration/setup.

const NAMESPACE = 'tintype'
const plane = await startOwnPlane(t)
const http = new KubeHttp({ ...(await accessFromKubeconfig(plane.kubeconfigPath)), namespace: NAMESPACE })
t.teardown(() => http.close())
const KUBECONFIG = plane.kubeconfigPath
const common = ['--namespace', NAMESPACE, '--no-hooks']
const upgrade = (...settings: string[]) =>
  helm(
    ['upgrade', '--install', 'tintype', chartDirectory, ...common, '--set', ['image.registry=registry.example', ...settings].join(',')],
    { KUBECONFIG },
  )
const kubectl = (...args: string[]) => run(path.join(plane.programs, 'kubectl'), ['--kubeconfig', KUBECONFIG, '-n', NAMESPACE, ...args])
const passwords = async () => {
  const names = ['tintype-minio-root', 'tintype-storage-operator', 'tintype-storage-gateway']
  const found = await Promise.all(names.map((name) => new Resource(http, secrets).get(name)))
  return found.map(({ data }) => data)
}

await new Resource(http, namespaces).create({ metadata: { name: NAMESPACE } })
await upgrade()
const first = await passwords()

t.test('upgrade keeps the passwords that the installation made', async (t) => {
  t.equal(new Set(first.flatMap((data) => Object.values(data ?? {}))).size, 6, 'each is its own')
  await upgrade('runner.maxPods=3')
  t.strictSame(await passwords(), first)
})

t.test('upgrade keeps the number of idle pods that somebody has scaled to', async (t) => {
  const pools = new Resource(http, runnerPools)
  await kubectl('scale', 'runnerpool/default', '--replicas=4')
  await upgrade('runner.maxPods=7')
  t.match(await pools.get('default'), { spec: { minIdle: 4, maxPods: 7 } })
})

t.test('upgrade replaces the setup of the store, so that it is done again', async (t) => {
  const jobs = await kubectl('get', 'jobs', '-o', 'name')
  t.match(jobs.trim(), /^job.batch\/tintype-storage-setup-\d+$/)
})

t.test('uninstallation leaves records, volume and passwords, and a new installation takes them up', async (t) => {
  await new Resource(http, screenshots).create({ metadata: { name: 'kept' }, spec: { url: 'https://example.com/' } })
  await new Resource(http, screenshots).patch('kept', mergePatch({ status: { phase: 'Completed' } }), { subresource: 'status' })
  await helm(['uninstall', 'tintype', ...common], { KUBECONFIG })
  t.strictSame(await passwords(), first)
  t.match(await kubectl('get', 'persistentvolumeclaims', '-o', 'name'), /tintype-minio/)
  t.equal(await kubectl('get', 'deployments,statefulsets,runnerpools', '-o', 'name'), '')
  await upgrade()
  t.strictSame(await passwords(), first)
  t.match(await new Resource(http, screenshots).get('kept'), { status: { phase: 'Completed' } })
})

t.test('two releases of one name live side by side in two namespaces', async (t) => {
  await new Resource(http, namespaces).create({ metadata: { name: 'staging' } })
  await helm(['install', 'tintype', chartDirectory, '--namespace', 'staging', '--no-hooks', '--set', 'image.registry=registry.example'], {
    KUBECONFIG,
  })
  const policies = await kubectl('get', 'validatingadmissionpolicies', '-o', 'name')
  t.match(policies, /\/staging-tintype-runner-status\n/)
  t.match(policies, /\/tintype-runner-status\n/)
})
