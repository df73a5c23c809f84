import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { loadClusterAccess } from '../../../crds/client/cluster-access.ts'
import { configMaps, serviceAccounts, type TokenRequest, tokenReviews } from '../../../crds/client/core-resources.ts'
import { isForbidden } from '../../../crds/client/kube-error.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { startPlane } from './plane.ts'

const plane = await startPlane(t)
const admin = plane.connect(t)

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
  const directory = await mkdtemp(join(tmpdir(), 'tintype-account-'))
  t.teardown(() => rm(directory, { recursive: true }))
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
