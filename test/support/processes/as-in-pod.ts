// Programs of the release outside of a pod, as they are in one: node's flags, its heap, its environment, and a service account's files.

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { serviceAccounts, type TokenRequest } from '../../../crds/client/core-resources.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'

const FILES = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Longer than any soak or bench. */
export const TOKEN_SECONDS = 14_400

/**
 * As in the Dockerfiles of operator and gateway; and the heap that node allows itself in a container of the chart's 384 MiB: on a host with gigabytes it
 * would collect late.
 */
export const NODE_FLAGS = ['--max-semi-space-size=4', '--max-old-space-size=256']
/** As in the Dockerfile of the runner. */
export const RUNNER_NODE_FLAGS = ['--initial-heap-size=256']
export const NODE_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', NODE_ENV: 'production' }

/** What the kubelet does: the files of the service account where a pod has them; only the program sees the mount. */
const SCRIPT = `mount -t tmpfs tmpfs /run && mkdir -p ${FILES} && cp "$0"/* ${FILES}/ && exec "$@"`

/** A command line that runs another one with the files of `directory` as its service account. */
export const withAccount = (directory: string, command: readonly string[]) =>
  ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', SCRIPT, directory, ...command] as const

/** Writes the files of a service account in the administrator's namespace; `ca` is the API server's authority, as PEM. */
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
