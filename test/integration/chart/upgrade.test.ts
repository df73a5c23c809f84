import path from 'node:path'
import t from 'tap'
import { namespaces, runnerPools, screenshots, secrets } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { run } from '../../cluster/host/exec.ts'
import { startOwnPlane } from '../../support/processes/own-plane.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { chartDirectory, helm } from '../../support/sources/chart.ts'

// Helm operations over the life of a release, on a real API server that runs no pods. test/integration/setup tests the hooks.

const NAMESPACE = 'tintype'
const plane = await startOwnPlane(t)
const http = new KubeHttp({ ...(await accessPlane(plane.kubeconfigPath)), namespace: NAMESPACE })
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
  const names = ['tintype-minio-root', ...['operator', 'gateway', 'uploads', 'links'].map((user) => `tintype-storage-${user}`)]
  const found = await Promise.all(names.map((name) => new Resource(http, secrets).get(name)))
  return found.map(({ data }) => data)
}

await new Resource(http, namespaces).create({ metadata: { name: NAMESPACE } })
await upgrade()
const first = await passwords()

t.test('upgrade keeps the generated passwords', async (t) => {
  t.equal(new Set(first.flatMap((data) => Object.values(data ?? {}))).size, 10, 'all passwords differ')
  await upgrade('runner.maxPods=3')
  t.strictSame(await passwords(), first)
})

t.test('upgrade makes a new key in place of one that is missing, once, and restarts the pods that use it', async (t) => {
  const checksum = async (name: string) =>
    kubectl('get', `deployment/tintype-${name}`, '-o', "jsonpath={.spec.template.metadata.annotations['checksum/storage-keys']}")
  const before = await checksum('api-gateway')
  const lost = { 'access-key': null, 'secret-key': Buffer.from('secret-of-old').toString('base64') }
  await new Resource(http, secrets).patch('tintype-storage-gateway', mergePatch({ data: lost }))
  await upgrade('runner.maxPods=4')
  const replaced = (await passwords())[2]
  t.match(Buffer.from(replaced?.['access-key'] ?? '', 'base64').toString(), /^[A-Za-z0-9]{20}$/)
  t.not(replaced?.['secret-key'], Buffer.from('secret-of-old').toString('base64'))
  const after = await checksum('api-gateway')
  t.not(after, before)
  await upgrade('runner.maxPods=5')
  t.equal(await checksum('api-gateway'), after)
  t.strictSame((await passwords())[2], replaced)
  first.splice(2, 1, replaced)
})

t.test('upgrade makes a new name for a root user that has none, keeps its password, and restarts the store', async (t) => {
  const checksum = () =>
    kubectl('get', 'statefulset/tintype-minio', '-o', "jsonpath={.spec.template.metadata.annotations['checksum/root-key']}")
  const before = await checksum()
  await new Resource(http, secrets).patch('tintype-minio-root', mergePatch({ data: { 'root-user': null } }))
  await upgrade('runner.maxPods=6')
  const [root, ...others] = await passwords()
  t.match(Buffer.from(root?.['root-user'] ?? '', 'base64').toString(), /^[A-Za-z0-9]{20}$/)
  t.equal(root?.['root-password'], first[0]?.['root-password'])
  t.strictSame(others, first.slice(1))
  t.not(await checksum(), before)
  first.splice(0, 1, root)
})

t.test('upgrade keeps the number of idle pods that was set with kubectl scale', async (t) => {
  const pools = new Resource(http, runnerPools)
  await kubectl('scale', 'runnerpool/default', '--replicas=3')
  await upgrade('runner.maxPods=7')
  t.match(await pools.get('default'), { spec: { minIdle: 3, maxPods: 7 } })
})

t.test('upgrade replaces the setup Job of the store, so that it runs again', async (t) => {
  const jobs = await kubectl('get', 'jobs', '-o', 'name')
  t.match(jobs.trim(), /^job.batch\/tintype-storage-setup-\d+$/)
})

t.test('uninstall keeps records, volume and passwords, and a new installation uses them', async (t) => {
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

t.test('a cluster without the Gateway API: the error says what to install', async (t) => {
  const route = ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=public']
  await t.rejects(upgrade(...route), /the cluster has no HTTPRoute: install the CRDs of the Gateway API/)
  const group = 'gateway.networking.k8s.io'
  const names = { kind: 'HTTPRoute', plural: 'httproutes', singular: 'httproute' }
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    // The API server requires this annotation for names below k8s.io.
    metadata: { name: `httproutes.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' } },
    spec: { group, names, scope: 'Namespaced', versions: [{ name: 'v1', served: true, storage: true, schema }] },
  }
  await run(path.join(plane.programs, 'kubectl'), ['--kubeconfig', KUBECONFIG, 'apply', '-f', '-'], { input: JSON.stringify(definition) })
  await kubectl('wait', '--for=condition=Established', `crd/httproutes.${group}`)
  await upgrade(...route)
  t.match(await kubectl('get', 'httproute', '-o', 'name'), 'tintype-api-gateway', 'control')
})
