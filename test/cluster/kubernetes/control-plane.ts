/**
 * etcd and the API server. `startControlPlane` runs them on loopback with a temporary store for integration tests. `buildEtcd` and `buildApiServer`
 * describe those of the embedded cluster. Both have RBAC and real service account tokens.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Daemon, type DaemonPlace, endWithProcess, findEnd, killDaemon, startDaemon, stopDaemon } from '../host/daemons.ts'
import { findFreePorts } from '../host/ports.ts'
import { waitFor } from '../host/wait.ts'
import { locatePrograms } from '../programs/programs.ts'
import { buildKubeconfig, certificatePaths, createAuthority, createCertificate } from './pki.ts'

export interface ControlPlaneSettings {
  /** Directory of kube-apiserver, etcd and kubectl. */
  programs: string
  /** Directory of ca, apiserver, admin and service-accounts.key. */
  pki: string
  etcdDirectory: string
  etcdPort: number
  etcdPeerPort: number
  /** IP address that the API server listens on. */
  bindAddress: string
  port: number
  advertiseAddress: string
  serviceCidr: string
  fsync: boolean
  networkNamespace?: string
  extraApiServerArgs?: readonly string[]
}

export interface ControlPlanePorts {
  etcd: number
  etcdPeer: number
  apiServer: number
}

export interface ControlPlane {
  /** Kubeconfig of an administrator. */
  kubeconfigPath: string
  url: string
  etcdUrl: string
  /** Directory of kubectl and helm. */
  programs: string
  /** Creates a kubeconfig with a client certificate of a user in these groups. The user has only the permissions from RBAC. */
  kubeconfigFor: (user: string, groups?: readonly string[]) => Promise<string>
  /** Restarts the API server on the same port and store. It is down for this many milliseconds, or until this promise settles. */
  restart: (down?: number | Promise<unknown>) => Promise<void>
  /** Starts a controller manager with only the garbage collector and the namespace controller, each with its own service account. */
  startControllers: () => Promise<void>
  stop: () => Promise<void>
}

/** `fsync`: etcd waits for the disk, as in production. Benchmarks need it. `namespace`: of the kubeconfigs; the caller creates it. */
export interface OwnPlaneOptions {
  directory: string
  ports?: ControlPlanePorts
  fsync?: boolean
  namespace?: string
}

/** etcd. Debian's version is too old for lists from the API server's cache. Without fsync a crash of the machine may lose the store, which is acceptable here. */
export function buildEtcd(settings: ControlPlaneSettings): Daemon {
  const { programs, etcdDirectory, etcdPort, etcdPeerPort, fsync, networkNamespace } = settings
  const client = `http://127.0.0.1:${etcdPort}`
  const args = ['--name', 'tintype', '--data-dir', etcdDirectory, '--listen-client-urls', client, '--advertise-client-urls', client]
  const peer = ['--listen-peer-urls', `http://127.0.0.1:${etcdPeerPort}`, '--quota-backend-bytes', String(4 * 2 ** 30)]
  return {
    name: 'etcd',
    command: path.join(programs, 'etcd'),
    args: [...args, ...peer, ...(fsync ? [] : ['--unsafe-no-fsync'])],
    ...(networkNamespace === undefined ? {} : { networkNamespace }),
  }
}

/** The API server, with the admission plugins of a production cluster. */
export function buildApiServer(settings: ControlPlaneSettings): Daemon {
  const { programs, pki, etcdPort, bindAddress, port, advertiseAddress, serviceCidr, networkNamespace, extraApiServerArgs = [] } = settings
  const serving = certificatePaths(pki, 'apiserver')
  const client = certificatePaths(pki, 'admin')
  const serviceAccountKey = path.join(pki, 'service-accounts.key')
  const flags = {
    'etcd-servers': `http://127.0.0.1:${etcdPort}`,
    'bind-address': bindAddress,
    'secure-port': port,
    'advertise-address': advertiseAddress,
    'tls-cert-file': serving.certificate,
    'tls-private-key-file': serving.key,
    'client-ca-file': certificatePaths(pki, 'ca').certificate,
    'kubelet-client-certificate': client.certificate,
    'kubelet-client-key': client.key,
    'kubelet-preferred-address-types': 'InternalIP',
    'service-account-key-file': serviceAccountKey,
    'service-account-signing-key-file': serviceAccountKey,
    'service-account-issuer': 'https://kubernetes.default.svc',
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'service-cluster-ip-range': serviceCidr,
    'allow-privileged': true,
  }
  return {
    name: 'kube-apiserver',
    command: path.join(programs, 'kube-apiserver'),
    args: [...Object.entries(flags).map(([name, value]) => `--${name}=${value}`), ...extraApiServerArgs],
    // The heap is only 100 MiB. With Go's default, an eighth of the processor time was spent on garbage collection.
    environment: { GOGC: '300' },
    ...(networkNamespace === undefined ? {} : { networkNamespace }),
  }
}

/** The controllers that delete objects of deleted owners and namespaces. */
function buildControllers({ programs, pki }: ControlPlaneSettings, kubeconfig: string): Daemon {
  const flags = {
    kubeconfig,
    controllers: 'garbage-collector-controller,namespace-controller,persistentvolumeclaim-protection-controller',
    'use-service-account-credentials': true,
    'root-ca-file': certificatePaths(pki, 'ca').certificate,
    'service-account-private-key-file': path.join(pki, 'service-accounts.key'),
    'leader-elect': false,
    'secure-port': 0,
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  return { name: 'kube-controller-manager', command: path.join(programs, 'kube-controller-manager'), args }
}

/** Resolves when the API server is ready. */
export async function waitUntilReady(place: DaemonPlace, url: string, authorityPath: string): Promise<void> {
  await waitFor('the API server', () => isReady(url, authorityPath), {
    timeoutMilliseconds: 180_000,
    findFailure: async () => (await findEnd(place, 'etcd')) ?? findEnd(place, 'kube-apiserver'),
  })
}

/** True when the API server at `url` is ready. The request needs no credentials. */
export async function isReady(url: string, authorityPath: string): Promise<boolean> {
  const ca = await readFile(authorityPath)
  return new Promise((resolve) => {
    const request = get(`${url}/readyz`, { ca, timeout: 2_000, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })
}

/**
 * Starts etcd and an API server on loopback for integration tests. All files are in `directory`, which the caller removes. There is no kubelet and,
 * unless `startControllers` is called, no controller manager: no garbage collection, no automatic service accounts, and pods stay unscheduled.
 */
export async function startControlPlane({
  directory,
  ports,
  fsync = false,
  namespace = 'default',
}: OwnPlaneOptions): Promise<ControlPlane> {
  const settings = { ...(await planControlPlane(directory, ports)), fsync }
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  const { programs, pki } = settings
  const authority = certificatePaths(pki, 'ca').certificate
  const url = `https://127.0.0.1:${settings.port}`
  await createAuthority(pki)
  await createCertificate(pki, 'apiserver', {
    user: 'kube-apiserver',
    names: ['DNS:localhost', 'DNS:kubernetes.default.svc', 'IP:127.0.0.1'],
  })
  const kubeconfigFor = writeKubeconfigs({ directory, url, namespace })
  await createCertificate(pki, 'admin', { user: 'admin', groups: ['system:masters'] })
  const kubeconfigPath = await kubeconfigFor('admin', ['system:masters'])
  await mkdir(place.records, { recursive: true })
  const forget = endWithProcess(place)
  const start = async () => {
    await startDaemon(place, buildApiServer(settings))
    await waitUntilReady(place, url, authority)
  }
  const stop = async () => {
    await killDaemon(place, 'kube-apiserver')
    await stopDaemon(place, 'kube-controller-manager')
    await stopDaemon(place, 'etcd')
    forget()
  }
  try {
    await startDaemon(place, buildEtcd(settings))
    await start()
  } catch (error) {
    await stop()
    throw error
  }
  const restart = async (down: number | Promise<unknown> = 0) => {
    await killDaemon(place, 'kube-apiserver')
    await (typeof down === 'number' ? sleep(down) : down)
    await start()
  }
  const startControllers = async () => {
    const kubeconfig = await kubeconfigFor('system:kube-controller-manager')
    await startDaemon(place, buildControllers(settings, kubeconfig))
  }
  return { kubeconfigPath, url, etcdUrl: `http://127.0.0.1:${settings.etcdPort}`, programs, kubeconfigFor, restart, startControllers, stop }
}

/** Returns a function that writes kubeconfigs of users. `directory` has the authority in `pki`. */
export function writeKubeconfigs({
  directory,
  url,
  namespace,
}: Required<Pick<OwnPlaneOptions, 'directory' | 'namespace'>> & { url: string }): ControlPlane['kubeconfigFor'] {
  const pki = path.join(directory, 'pki')
  return async (user, groups = []) => {
    const name = `user-${user.replaceAll(/[^a-z0-9-]/g, '-')}`
    const file = path.join(directory, `${name}.kubeconfig`)
    const client = await createCertificate(pki, name, { user, groups })
    await writeFile(file, await buildKubeconfig(url, certificatePaths(pki, 'ca').certificate, client, namespace), { mode: 0o600 })
    return file
  }
}

async function planControlPlane(directory: string, ports?: ControlPlanePorts): Promise<ControlPlaneSettings> {
  const [etcdPort, etcdPeerPort, port] = ports ? [ports.etcd, ports.etcdPeer, ports.apiServer] : await findFreePorts(3)
  await mkdir(directory, { recursive: true })
  return {
    programs: (await locatePrograms()).kubernetes,
    pki: path.join(directory, 'pki'),
    etcdDirectory: path.join(directory, 'etcd'),
    etcdPort: etcdPort!,
    etcdPeerPort: etcdPeerPort!,
    bindAddress: '127.0.0.1',
    port: port!,
    advertiseAddress: '127.0.0.1',
    serviceCidr: '10.96.0.0/16',
    fsync: false,
    // Pods need the `default` service account, and no controller manager creates it.
    extraApiServerArgs: ['--disable-admission-plugins=ServiceAccount'],
  }
}
