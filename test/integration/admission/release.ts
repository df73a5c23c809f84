import path from 'node:path'
import { accessFromToken } from '../../../crds/client/cluster-access.ts'
import { accounts, pods, screenshots, serviceAccounts, type TokenRequest } from '../../../crds/client/kinds.ts'
import { KubeHttp, type KubeHttpOptions } from '../../../crds/client/kube-http.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import { defineResource, mergePatch, Resource } from '../../../crds/client/resource.ts'
import type { ScreenshotStatus } from '../../../crds/src/kinds/screenshot.ts'
import { eventually } from '../../support/eventually.ts'
import { openPodAccount } from '../../support/processes/as-in-pod.ts'
import { type Ends, newNamespace, openTestPlane, type TestPlaneOptions } from '../../support/processes/own-plane.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { chartDirectory, helm } from '../../support/sources/chart.ts'

/** Namespace of the release under test. The name of the release is `tintype`. */
export const NAMESPACE = newNamespace()
/** Resolves when the policy rejects a creation for an account that the user may not use. The API server applies new policies only after a moment. */
export const whenInForce = (create: () => Promise<unknown>): Promise<boolean> =>
  eventually('the policy is in force', () =>
    create().then(
      () => false,
      (error: Error) => error.message.includes('not allowed to use'),
    ),
  )

/** The chart begins the names of objects without a namespace with this. */
export const toClusterName = (name: string): string => `${NAMESPACE}-${name}`

/** The chart installed with Helm on a real API server that runs no pods, with users and programs that access it. */
export type Release = Awaited<ReturnType<typeof installRelease>>

/** Installs the chart into a namespace of an API server, which other test files use, too, unless `own` is set. `fsync`: etcd waits for the disk. */
export async function installRelease(t: Ends, options: Pick<TestPlaneOptions, 'own' | 'fsync'> = {}) {
  const plane = await openTestPlane({ ...options, namespace: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } })
  t.teardown(plane.stop)
  const connections: KubeHttp[] = []
  t.teardown(() => Promise.all(connections.map((http) => http.close())))
  const connect = (http: KubeHttp) => {
    connections.push(http)
    return http
  }
  const asUser = async (user: string, groups?: readonly string[]) =>
    connect(new KubeHttp(await accessPlane(await plane.kubeconfigFor(user, groups))))
  const access = await accessPlane(plane.kubeconfigPath)
  const admin = connect(new KubeHttp(access))
  const settings = ['--set', 'image.registry=registry.example/tintype', '--no-hooks', '--skip-crds', '--namespace', NAMESPACE]
  await helm(['install', 'tintype', chartDirectory, ...settings], { KUBECONFIG: plane.kubeconfigPath })
  const ca = (await access.credentials()).tls.ca ?? ''
  const asToken = (token: string, options: KubeHttpOptions = {}) =>
    connect(new KubeHttp(accessFromToken({ server: plane.url, token, ca, namespace: NAMESPACE }), options))

  /** A client with the token of a pod's ServiceAccount. The token is bound to the pod, as the kubelet would project it. */
  async function asPod(serviceAccountName: string, podName: string) {
    const pod = await new Resource(admin, pods).create({
      metadata: { name: podName },
      spec: { ...restricted, serviceAccountName, containers: [{ ...hardened, name: 'runner', image: 'any' }] },
    })
    const uid = pod.metadata.uid ?? ''
    return {
      pod: { pod: podName, uid },
      http: asToken(await requestToken(serviceAccountName, { kind: 'Pod', apiVersion: 'v1', name: podName, uid })),
    }
  }

  /** The token of the same account without a pod, as `kubectl create token` creates it. */
  const asAccount = async (serviceAccountName: string, options: KubeHttpOptions = {}) =>
    asToken(await requestToken(serviceAccountName), options)

  async function requestToken(serviceAccountName: string, boundObjectRef?: object): Promise<string> {
    const { status } = await admin.request<TokenRequest>({
      method: 'POST',
      path: `${new Resource(admin, serviceAccounts).pathOf(serviceAccountName)}/token`,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences: [], expirationSeconds: 600, boundObjectRef },
      },
    })
    return status?.token ?? ''
  }

  /** For processes that act as a ServiceAccount of the release. */
  const podAccountOf = (name: string) => openPodAccount(access, { name, directory: path.join(plane.directory, name) })

  /** A Screenshot with a claim of the operator for a pod. */
  async function aClaimedScreenshot(name: string, runner: { pod: string; uid: string }, status: Partial<ScreenshotStatus> = {}) {
    const client = new Resource(admin, screenshots)
    await client.create({ metadata: { name }, spec: { url: 'https://example.com/' } })
    const claim = {
      phase: 'Running',
      runner,
      attempt: 1,
      lostRunners: 0,
      startTime: '2026-01-01T00:00:00Z',
      conditions: capturing,
      ...status,
    }
    return client.patch(name, mergePatch({ status: claim }), { subresource: 'status' })
  }
  /** Binds a ClusterRole to a ServiceAccount of the release. */
  async function grantEverything(serviceAccountName: string) {
    const subjects = [{ kind: 'ServiceAccount', name: serviceAccountName, namespace: NAMESPACE }]
    await new Resource(admin, clusterRoleBindings).create({
      metadata: { name: toClusterName(serviceAccountName) },
      roleRef: toRole('cluster-admin'),
      subjects,
    })
  }

  /** Binds a ClusterRole of the release or of `permit` to a user, in the release's namespace or another one. */
  async function grant(user: string, clusterRole: string, namespace = NAMESPACE) {
    const subjects = [{ apiGroup: rbac.group, kind: 'User', name: user }]
    const metadata = { name: `${user}-${clusterRole}`.replaceAll(/[^a-z0-9-]/g, '-'), namespace }
    await new Resource(admin, roleBindings).create({ metadata, roleRef: toRole(toClusterName(clusterRole)), subjects }, { namespace })
  }

  /** Grants a user verbs on kinds of Tintype, or of another API group, in the release's namespace. */
  async function permit(user: string, name: string, rule: Rule) {
    const role = name.replaceAll(/[^a-z0-9-]/g, '-')
    await new Resource(admin, clusterRoles).create({
      metadata: { name: toClusterName(role) },
      rules: [{ apiGroups: ['tintype.dev'], ...rule }],
    })
    await grant(user, role)
  }

  /** A user who may write Tintype's kinds in the namespace, and use only these accounts. */
  async function asWriter(user: string, accountNames: string[]) {
    await permit(user, `write-${user}`, {
      resources: ['screenshots', 'screenshotschedules', 'webhooks', 'apikeys'],
      verbs: ['create', 'get', 'list', 'update', 'patch', 'delete', 'deletecollection'],
    })
    await permit(user, `use-${user}`, { resources: ['accounts'], resourceNames: accountNames, verbs: ['use'] })
    return asUser(user)
  }

  const createAccounts = (...names: string[]) =>
    Promise.all(names.map((name) => new Resource(admin, accounts).create({ metadata: { name }, spec: { plan: 'free' } })))
  const people = { asUser, asWriter, asPod, asAccount, podAccountOf }
  return {
    plane,
    admin,
    createAccounts,
    grantEverything,
    grant,
    permit,
    ...people,
    aClaimedScreenshot,
    kubeconfigPath: plane.kubeconfigPath,
  }
}

interface Rule {
  apiGroups?: string[]
  resources: string[]
  resourceNames?: string[]
  verbs: string[]
}

interface Binding extends KubeObject {
  roleRef: { apiGroup: string; kind: string; name: string }
  subjects: { apiGroup?: string; kind: string; name: string; namespace?: string }[]
}
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const toRole = (name: string) => ({ apiGroup: rbac.group, kind: 'ClusterRole', name })
const roleBindings = defineResource<Binding>({ ...rbac, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true })
const clusterRoles = defineResource<KubeObject & { rules: object[] }>({
  ...rbac,
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
})
const clusterRoleBindings = defineResource<Binding>({
  ...rbac,
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
})

const since = { lastTransitionTime: '2026-01-01T00:00:00Z' }
const capturing = [{ type: 'Succeeded', status: 'Unknown' as const, reason: 'Capturing', message: 'captures', ...since }]
const restricted = { securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } } }
const hardened = { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }
