// Runs programs of the release outside a pod as they run inside one: with Node's flags and heap limit, its environment, and service account
// files.

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ClusterAccess } from '../../../crds/client/cluster-access.ts'
import { serviceAccounts, type TokenRequest } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import { defineResource, Resource } from '../../../crds/client/resource.ts'

const FILES = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Longer than any soak run or benchmark. */
export const TOKEN_SECONDS = 14_400

/**
 * The flags of the Dockerfiles of operator and gateway, and the heap limit that Node chooses in a container with the chart's 384 MiB. With
 * the memory of a host, Node would collect garbage too late.
 */
export const NODE_FLAGS = ['--max-semi-space-size=4', '--expose-gc', '--max-old-space-size=256']
/** The flags of the Dockerfile of the runner. */
export const RUNNER_NODE_FLAGS = ['--initial-heap-size=256']
export const NODE_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072', NODE_ENV: 'production' }

/** Mounts service account files at the path that they have in a pod, as the kubelet does. Only the program sees the mount. */
const SCRIPT = `mount -t tmpfs tmpfs /run && mkdir -p ${FILES} && cp "$0"/* ${FILES}/ && exec "$@"`

/** A command that runs another command with the files of `directory` as its service account. */
export const withAccount = (directory: string, command: readonly string[]) =>
  ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', SCRIPT, directory, ...command] as const

/** A service account whose files a program finds as in a pod. */
export type PodAccount = Awaited<ReturnType<typeof openPodAccount>>

/** Creates a service account with all rights, or uses an existing one without `grant`, and writes its files. */
export async function openPodAccount(
  access: ClusterAccess,
  { name, directory, grant = false }: { name: string; directory: string; grant?: boolean },
) {
  const http = new KubeHttp(access)
  try {
    if (grant) await createAdministrator(http, name)
    const { tls } = await access.credentials()
    await writeServiceAccount(http, { name, directory, ca: String(tls.ca) })
  } finally {
    await http.close()
  }
  const { hostname, port } = new URL(access.server)
  const environment = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  /** Runs a command with the files. */
  const wrap = (command: readonly string[]): readonly string[] => withAccount(directory, command)
  return { wrap, environment }
}

const clusterRoleBindings = defineResource<KubeObject>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
})

async function createAdministrator(http: KubeHttp, name: string): Promise<void> {
  await new Resource(http, serviceAccounts).create({ metadata: { name } })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ kind: 'ServiceAccount', name, namespace: http.namespace }]
  const metadata = { name: `${http.namespace}-${name}` }
  await new Resource(http, clusterRoleBindings).create({ metadata, roleRef, subjects } as KubeObject)
}

/** Writes service account files for the administrator's namespace. `ca` is the API server's certificate authority as PEM. */
export async function writeServiceAccount(
  admin: KubeHttp,
  { name, directory, ca }: { name: string; directory: string; ca: string },
): Promise<void> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: TOKEN_SECONDS } }
  const { status } = await admin.request<TokenRequest>({
    method: 'POST',
    path: new Resource(admin, serviceAccounts).pathOf(name, 'token'),
    body,
  })
  await mkdir(directory, { recursive: true })
  const files = { token: status?.token ?? '', 'ca.crt': ca, namespace: admin.namespace }
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(directory, file), text)
}
