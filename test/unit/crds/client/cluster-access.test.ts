import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { accessFromFiles, loadClusterAccess } from '../../../../crds/client/cluster-access.ts'

const kubeconfig = (server: string, namespace: string, token: string) => `
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "${server}", certificate-authority-data: ${Buffer.from('a CA').toString('base64')}}}]
users: [{name: u, user: {token: ${token}}}]
contexts: [{name: here, context: {cluster: c, user: u, namespace: ${namespace}}}]
`

t.test('loadClusterAccess prefers the kubeconfig in KUBECONFIG', async (t) => {
  const directory = t.testdir({ config: kubeconfig('https://one:6443/', 'shots', 'abc'), token: 'x', namespace: 'other' })
  const env = { KUBECONFIG: join(directory, 'config'), KUBERNETES_SERVICE_HOST: '10.0.0.1' }
  const access = await loadClusterAccess(env, { serviceAccountDirectory: directory })
  t.equal(access.server, 'https://one:6443')
  t.equal(access.namespace, 'shots')
  const { headers, tls } = await access.credentials()
  t.strictSame(headers, { Authorization: 'Bearer abc' })
  t.equal(String(tls.ca), 'a CA')
  t.equal((await access.credentials({ refresh: true })).tls, tls, 'unchanged TLS material stays the same object')
})

t.test('loadClusterAccess uses the service account in a pod, also over IPv6', async (t) => {
  const directory = t.testdir({ token: 'first\n', namespace: 'shots\n', 'ca.crt': 'a CA' })
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
  const access = await loadClusterAccess(env, { serviceAccountDirectory: directory })
  t.equal(access.server, 'https://[fd00::1]:6443')
  t.equal(access.namespace, 'shots')
  t.strictSame(await access.credentials(), { headers: { authorization: 'Bearer first' }, tls: { ca: 'a CA' } })
})

t.test('loadClusterAccess falls back to the kubeconfig in the home directory', async (t) => {
  const home = t.testdir({})
  await mkdir(join(home, '.kube'))
  await writeFile(join(home, '.kube', 'config'), kubeconfig('https://home', 'default', 'abc'))
  t.equal((await loadClusterAccess({ HOME: home }, { serviceAccountDirectory: home })).server, 'https://home')
})

t.test('loadClusterAccess lists the places where it looked if there is no cluster', async (t) => {
  const home = t.testdir({})
  await t.rejects(loadClusterAccess({ HOME: home }, { serviceAccountDirectory: home }), { message: /KUBECONFIG is not set/ })
})

t.test('credentials contain a rotated token after a refresh, and keep the TLS material while the CA is the same', async (t) => {
  const directory = t.testdir({ token: 'first', ca: 'a CA' })
  const files = { tokenFile: join(directory, 'token'), caFile: join(directory, 'ca') }
  const access = accessFromFiles({ server: 'https://x', namespace: 'default', ...files })
  const first = await access.credentials()
  await writeFile(files.tokenFile, 'second')
  t.equal((await access.credentials()).headers.authorization, 'Bearer first')
  const second = await access.credentials({ refresh: true })
  t.equal(second.headers.authorization, 'Bearer second')
  t.equal(second.tls, first.tls)
  await writeFile(files.caFile, 'another CA')
  t.strictSame((await access.credentials({ refresh: true })).tls, { ca: 'another CA' })
})
