/**
 * etcd and the API server: on loopback with a throwaway store for integration tests (`startControlPlane`), or as the embedded cluster's
 * (`buildEtcd`, `buildApiServer` with the node's addresses). Both run with RBAC and real service account tokens.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Daemon,
  type DaemonPlace,
  endWithProcess,
  isDaemonRunning,
  logOf,
  signalDaemon,
  startDaemon,
  stopDaemon,
} from '../host/daemons.ts'
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
  /** Address that the API server listens on. */
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
  /** An administrator's. */
  kubeconfigPath: string
  url: string
  etcdUrl: string
  /** Directory of kubectl and helm. */
  programs: string
  /** A kubeconfig for a user of these groups, by client certificate: what RBAC gives them is all they have. */
  kubeconfigFor: (user: string, groups?: readonly string[]) => Promise<string>
  /** Ends the API server and starts it again on the same port and store; for so many milliseconds, or until that has settled, it is away. */
  restart: (down?: number | Promise<unknown>) => Promise<void>
  /** Starts a controller manager with the garbage collector and what deletes namespaces alone, each under its own service account. */
  startControllers: () => Promise<void>
  stop: () => Promise<void>
}

/** `fsync`: etcd waits for the disk, as anybody's does who would measure it. */
export interface OwnPlaneOptions {
  directory: string
  ports?: ControlPlanePorts
  fsync?: boolean
}

/** etcd; Debian's is so old that the API server would not serve lists from its cache. Without fsync a crash of the machine may lose the store, which a throwaway cluster can afford. */
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

/** The API server, with the admission plugins that a real cluster has. */
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
    // The heap of a cluster in use has gigabytes and is collected now and then; this one has 100 MiB, and an eighth of its work was to collect it.
    environment: { GOGC: '300' },
    ...(networkNamespace === undefined ? {} : { networkNamespace }),
  }
}

/** The controllers that delete what belongs to what is gone. */
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

/** Resolves when the API server says that it is ready. */
export async function waitUntilReady(place: DaemonPlace, url: string, authorityPath: string): Promise<void> {
  await waitFor('the API server', () => isReady(url, authorityPath), {
    timeoutMilliseconds: 180_000,
    givenUp: async () => {
      for (const name of ['etcd', 'kube-apiserver'])
        if (!(await isDaemonRunning(place, name))) return `${name} ended: see ${logOf(place, name)}`
      return undefined
    },
  })
}

/** Whether the API server at `url` is ready; anybody may ask that. */
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
 * Starts etcd and an API server on loopback for integration tests; everything is kept in `directory`, which the caller removes.
 * There is no kubelet, and no controller manager unless `startControllers` is called: no garbage collection, no service accounts made by
 * themselves, pods stay unscheduled.
 */
export async function startControlPlane({ directory, ports, fsync = false }: OwnPlaneOptions): Promise<ControlPlane> {
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
  const kubeconfigFor = async (user: string, groups: readonly string[] = []) => {
    const name = `user-${user.replaceAll(/[^a-z0-9-]/g, '-')}`
    const file = path.join(directory, `${name}.kubeconfig`)
    const client = await createCertificate(pki, name, { user, groups })
    await writeFile(file, await buildKubeconfig(url, authority, client), { mode: 0o600 })
    return file
  }
  await createCertificate(pki, 'admin', { user: 'admin', groups: ['system:masters'] })
  const kubeconfigPath = await kubeconfigFor('admin', ['system:masters'])
  await mkdir(place.records, { recursive: true })
  const forget = endWithProcess(place)
  const start = async () => {
    await startDaemon(place, buildApiServer(settings))
    await waitUntilReady(place, url, authority)
  }
  const stop = async () => {
    await signalDaemon(place, 'kube-apiserver', 'SIGKILL') // asked politely it waits up to a minute for open watches
    await stopDaemon(place, 'kube-apiserver')
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
    await signalDaemon(place, 'kube-apiserver', 'SIGKILL')
    await stopDaemon(place, 'kube-apiserver')
    await (typeof down === 'number' ? sleep(down) : down)
    await start()
  }
  const startControllers = async () => {
    const kubeconfig = await kubeconfigFor('system:kube-controller-manager')
    await startDaemon(place, buildControllers(settings, kubeconfig))
  }
  return { kubeconfigPath, url, etcdUrl: `http://127.0.0.1:${settings.etcdPort}`, programs, kubeconfigFor, restart, startControllers, stop }
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
    // Without a controller manager nobody makes the `default` service account, so no pod could be created.
    extraApiServerArgs: ['--disable-admission-plugins=ServiceAccount'],
  }
}
