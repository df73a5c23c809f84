/**
 * Location and credentials of the API server.
 *
 * In a pod both come from the service account's files, which this module reads itself. The module of client-node's KubeConfig imports the whole
 * generated API (20 to 25 MiB of memory in a bundled program, ADR 38). It is loaded only for a kubeconfig file, outside a cluster.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** TLS settings of a connection to the API server. */
export type TlsMaterial = {
  ca?: string | Buffer
  cert?: string | Buffer
  key?: string | Buffer
  servername?: string
  rejectUnauthorized?: boolean
}

/** Headers for each request, and TLS material, which is the same object until its content changes. */
export type Credentials = { headers: Record<string, string>; tls: TlsMaterial }

/** An API server and a source of its credentials. `refresh` reads files or plugins again, after a 401. */
export type ClusterAccess = {
  server: string
  /** The namespace of the service account or of the context. */
  namespace: string
  /** URL of an HTTP proxy, from a kubeconfig. */
  proxyUrl?: string | undefined
  credentials(options?: { refresh?: boolean }): Promise<Credentials>
}

/** Directory in which the kubelet mounts a pod's token, CA and namespace. */
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Bound tokens are valid for an hour and are replaced on disk after 80% of it. client-go also reads them every minute. */
const CREDENTIALS_MAX_AGE_MILLISECONDS = 60_000

type LoadOptions = { context?: string; serviceAccountDirectory?: string }

/**
 * Finds the cluster: `KUBECONFIG` first, then the pod's service account, then `~/.kube/config`.
 * @throws if none of the three exists
 */
export async function loadClusterAccess(env: NodeJS.ProcessEnv, options: LoadOptions = {}): Promise<ClusterAccess> {
  const { context, serviceAccountDirectory = SERVICE_ACCOUNT_DIRECTORY } = options
  if (env.KUBECONFIG) return accessFromKubeconfig(env.KUBECONFIG, context === undefined ? {} : { context })
  if (env.KUBERNETES_SERVICE_HOST && existsSync(join(serviceAccountDirectory, 'token'))) {
    return accessFromServiceAccount(env.KUBERNETES_SERVICE_HOST, env.KUBERNETES_SERVICE_PORT ?? '443', serviceAccountDirectory)
  }
  const file = join(env.HOME ?? homedir(), '.kube', 'config')
  if (!existsSync(file))
    throw new Error(`no cluster found: KUBECONFIG is not set, this process does not run in a pod, and ${file} does not exist`)
  return accessFromKubeconfig(file, context === undefined ? {} : { context })
}

/** Access from a pod, with the files of its service account. */
export async function accessFromServiceAccount(host: string, port: string, directory = SERVICE_ACCOUNT_DIRECTORY): Promise<ClusterAccess> {
  const namespace = (await readFile(join(directory, 'namespace'), 'utf8')).trim()
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  return accessFromFiles({ server, namespace, tokenFile: join(directory, 'token'), caFile: join(directory, 'ca.crt') })
}

/** Access with a token and CA in files, which are read again every minute and after a 401. */
export function accessFromFiles({ server, namespace, tokenFile, caFile }: FileAccess): ClusterAccess {
  return {
    server,
    namespace,
    credentials: cached(async (previous) => {
      const [token, ca] = await Promise.all([readFile(tokenFile, 'utf8'), readFile(caFile, 'utf8')])
      return { headers: bearer(token.trim()), tls: previous?.tls.ca === ca ? previous.tls : { ca } }
    }),
  }
}

/** Access with the current or the named context of a kubeconfig. `path` may list several files, as `KUBECONFIG` does. */
export async function accessFromKubeconfig(path: string, { context }: { context?: string } = {}): Promise<ClusterAccess> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  for (const [index, file] of path.split(delimiter).filter(Boolean).entries()) {
    if (index === 0) {
      config.loadFromFile(file)
      continue
    }
    const more = new KubeConfig()
    more.loadFromFile(file)
    config.mergeConfig(more, true)
  }
  if (context !== undefined) config.setCurrentContext(context)
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new Error(`${path} has no cluster for the context ${config.getCurrentContext()}`)
  return {
    server: cluster.server.replace(/\/$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    proxyUrl: cluster.proxyUrl,
    credentials: cached(async (previous) => {
      const options: KubeconfigOptions = {}
      // applyOptions is private in the types, but the public methods also build an agent for each call.
      await (config as unknown as { applyOptions(options: KubeconfigOptions): Promise<void> }).applyOptions(options)
      const user = config.getCurrentUser()
      const headers = { ...options.headers, ...(user?.username ? basic(user.username, user.password ?? '') : {}) }
      return { headers, tls: sameTls(previous?.tls, tlsOf(options)) }
    }),
  }
}

/** Access with a fixed bearer token. */
export function accessFromToken({ server, token, ca, namespace = 'default' }: TokenAccess): ClusterAccess {
  const credentials: Credentials = { headers: token === undefined ? {} : bearer(token), tls: ca === undefined ? {} : { ca } }
  return { server: server.replace(/\/$/, ''), namespace, credentials: async () => credentials }
}

type FileAccess = { server: string; namespace: string; tokenFile: string; caFile: string }
type TokenAccess = { server: string; token?: string; ca?: string | Buffer; namespace?: string }
type KubeconfigOptions = TlsMaterial & { headers?: Record<string, string> }

function cached(load: (previous: Credentials | undefined) => Promise<Credentials>): ClusterAccess['credentials'] {
  let last: Credentials | undefined
  let loadedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<Credentials> | undefined
  return async ({ refresh = false } = {}) => {
    if (last && !refresh && performance.now() - loadedAt < CREDENTIALS_MAX_AGE_MILLISECONDS) return last
    loading ??= load(last).finally(() => {
      loading = undefined
    })
    last = await loading
    loadedAt = performance.now()
    return last
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const basic = (name: string, password: string) => ({ authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` })

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: KubeconfigOptions): TlsMaterial {
  return Object.fromEntries(Object.entries({ ca, cert, key, servername, rejectUnauthorized }).filter(([, value]) => value !== undefined))
}

function sameTls(previous: TlsMaterial | undefined, next: TlsMaterial): TlsMaterial {
  return previous && JSON.stringify(previous) === JSON.stringify(next) ? previous : next
}
