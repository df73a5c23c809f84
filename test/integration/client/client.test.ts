import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { loadClusterAccess } from '../../../crds/client/cluster-access.ts'
import { configMaps, serviceAccounts, type TokenRequest, tokenReviews } from '../../../crds/client/kinds.ts'
import { isForbidden } from '../../../crds/client/kube-error.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { startPlane, startProxy } from './plane.ts'

// Connections and credentials of the client.

const plane = await startPlane(t)
const admin = plane.connect(t)

t.test('client stays within its pool for 300 concurrent requests, plus one connection per watch', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const http = plane.connect(t, { server: proxy.url, connections: 8 })
  const reflectors = ['a', 'b', 'c'].map((label) => new Reflector({ http, resource: configMaps, labelSelector: `watch=${label}` }))
  t.teardown(() => Promise.all(reflectors.map((reflector) => reflector.stop())))
  for (const reflector of reflectors) reflector.start()
  await Promise.all(reflectors.map((reflector) => reflector.whenSynced()))
  const client = new Resource(http, configMaps)
  await Promise.all(Array.from({ length: 300 }, (_, n) => client.create({ metadata: { name: `pool-${n}` } })))
  t.ok(proxy.connections() <= 8 + 3, `${proxy.connections()} connections`)
})

t.test('client uses one connection after the other, and replaces those that are reset or do not respond', async (t) => {
  const proxy = await startProxy(t, plane.url)
  const client = new Resource(plane.connect(t, { server: proxy.url, attemptTimeoutMilliseconds: 500 }), configMaps)
  await client.create({ metadata: { name: 'kept' } })
  for (let n = 0; n < 20; n++) await client.get('kept')
  t.ok(proxy.connections() <= 2, `${proxy.connections()} connections`)
  proxy.cut()
  t.equal((await client.get('kept')).metadata.name, 'kept')
  proxy.swallow()
  t.equal((await client.get('kept')).metadata.name, 'kept')
})

/** A token of a new service account, as the kubelet would mount it. */
async function aToken(name: string, audiences?: string[]): Promise<string> {
  const accounts = new Resource(admin, serviceAccounts)
  if (!(await accounts.find(name))) await accounts.create({ metadata: { name } })
  const spec = { expirationSeconds: 600, ...(audiences ? { audiences } : {}) }
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  const { status } = await admin.request<TokenRequest>({ method: 'POST', path: accounts.pathOf(name, 'token'), body })
  return status?.token ?? ''
}

t.test('client in a pod uses the files of its service account, and reads a replaced token', async (t) => {
  const directory = t.testdir()
  const { tls } = await plane.access.credentials()
  await writeFile(join(directory, 'ca.crt'), tls.ca ?? '')
  await writeFile(join(directory, 'namespace'), plane.namespace)
  await writeFile(join(directory, 'token'), 'of yesterday')
  const { hostname, port } = new URL(plane.url)
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  const http = new KubeHttp(await loadClusterAccess(env, { serviceAccountDirectory: directory }))
  t.teardown(() => http.close())
  const client = new Resource(http, configMaps)
  await t.rejects(client.list(), { name: 'KubeError', status: 401 })
  await writeFile(join(directory, 'token'), await aToken('reader'))
  t.ok(isForbidden(await client.list().catch((error: unknown) => error)), 'the new token is valid, but has no permissions')
})

t.test('client does not trust an API server of another certificate authority', async (t) => {
  const http = new KubeHttp({ ...plane.access, credentials: async () => ({ headers: {}, tls: {} }) })
  t.teardown(() => http.close())
  await t.rejects(new Resource(http, configMaps).list({ timeoutMilliseconds: 300 }), { name: 'KubeError', status: 0 })
})

t.test('token review returns the owner and the audience of a token', async (t) => {
  const reviews = new Resource(admin, tokenReviews)
  const token = await aToken('runner', ['tintype-dispatch'])
  const review = (audience: string) => reviews.create({ spec: { token, audiences: [audience] } })
  const accepted = (await review('tintype-dispatch')).status
  t.match(accepted, { authenticated: true, user: { username: `system:serviceaccount:${plane.namespace}:runner` } })
  t.not((await review('somebody-else')).status?.authenticated, true)
})
