/** Brings the embedded cluster up, step by step. Each step looks first at what is there, so that a second run repairs and a third does nothing. */
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { ensureCgroups } from './cgroups.ts'
import { buildApiServer, buildEtcd, type ControlPlaneSettings, waitUntilReady } from './control-plane.ts'
import { ensureDaemon, isDaemonRunning, logOf, stopDaemon } from './daemons.ts'
import { stopNode } from './down.ts'
import { succeeds } from './exec.ts'
import { areIdentitiesFresh, createIdentities, hostUrl, writeKubeconfigs } from './identities.ts'
import { ensurePause } from './image-pause.ts'
import { findInternet, type Internet } from './internet.ts'
import { kubectl } from './kubectl.ts'
import { ensureNamespace, ensureWayOut, ensureWaysIn, hasNamespace, insideNamespace, place } from './network.ts'
import { ensureContainerd, ensureDns, ensureKubelet, kubeconfigOf, requireRunning } from './node.ts'
import { ensurePackages } from './packages.ts'
import { certificatePaths } from './pki.ts'
import { buildKubernetes, buildMinio, locatePrograms } from './programs.ts'
import { choices, network, paths } from './state.ts'
import { type Step, StepError } from './steps.ts'
import { ensureVolumes } from './volumes.ts'
import { waitFor } from './wait.ts'

const alreadyUp = 'already up'

/** What later steps of the same run need to know. */
export interface ClusterFacts {
  hasWayOut: boolean
  internet: Internet | undefined
}

/** The steps, and what they find out. */
export function clusterSteps(): { steps: Step[]; facts: ClusterFacts } {
  const facts: ClusterFacts = { hasWayOut: false, internet: undefined }
  const steps: Step[] = [
    { name: 'Debian packages', run: ensurePackages },
    { name: 'Kubernetes programs', run: (report) => built(buildKubernetes((count) => report(`compiling: ${count} packages`))) },
    { name: 'MinIO', run: (report) => built(buildMinio((count) => report(`compiling: ${count} packages`))) },
    { name: 'Network and certificates', run: () => ensureGround(facts) },
    { name: 'etcd', run: ensureEtcd },
    { name: 'API server', run: ensureApiServer },
    { name: 'Controllers and scheduler', run: ensureControllers },
    { name: 'Container runtime', run: async () => ((await ensureContainerd()) ? 'containerd started' : alreadyUp) },
    { name: 'Node', run: () => ensureNode(facts) },
    { name: 'Node ready', run: () => awaitNode(facts) },
  ]
  return { steps, facts }
}

async function built(build: Promise<boolean>): Promise<string> {
  try {
    return (await build) ? 'built' : 'already built'
  } catch (cause) {
    const remedy =
      'Go 1.26 or newer must be on the PATH and reach a Go module proxy (go env GOPROXY); what was compiled is kept: run `npm start` again'
    throw new StepError('programs could not be built', { remedy, cause })
  }
}

/** A new namespace or new certificates leave nothing of a running node usable, so what runs is ended first. */
async function ensureGround(facts: ClusterFacts): Promise<string> {
  const [isThere, areFresh] = await Promise.all([hasNamespace(), areIdentitiesFresh()])
  if (!isThere || !areFresh) await stopNode()
  if (areFresh) await writeKubeconfigs()
  else await createIdentities()
  await ensureNamespace()
  await ensureCgroups()
  facts.hasWayOut = await ensureWayOut()
  return isThere && areFresh ? alreadyUp : facts.hasWayOut ? 'made' : 'made, without a way out: this kernel has no tun device'
}

async function controlPlaneSettings(): Promise<ControlPlaneSettings> {
  return {
    programs: (await locatePrograms()).kubernetes,
    pki: paths.pki,
    etcdDirectory: paths.etcd,
    etcdPort: 2379,
    etcdPeerPort: 2380,
    bindAddress: '0.0.0.0',
    port: network.apiPort,
    advertiseAddress: network.nodeAddress,
    serviceCidr: network.serviceCidr,
    fsync: choices.etcdFsync,
  }
}

/** A store that a crash damaged is set aside, and its volumes with it: records without their pictures would help nobody (decision 47). */
async function ensureEtcd(): Promise<string> {
  const daemon = await insideNamespace(buildEtcd(await controlPlaneSettings()))
  if (!(await ensureDaemon(place, daemon))) return alreadyUp
  if (await isEtcdHealthy()) return choices.etcdFsync ? 'started, with fsync' : 'started'
  await stopNode()
  await rm(`${paths.etcd}.damaged`, { recursive: true, force: true })
  await rename(paths.etcd, `${paths.etcd}.damaged`)
  await rm(paths.volumes, { recursive: true, force: true })
  await ensureNamespace()
  await ensureWayOut()
  await ensureDaemon(place, daemon)
  if (await isEtcdHealthy()) return 'its store was damaged by a crash: rebuilt empty'
  throw new StepError('etcd does not come up', { remedy: 'npm stop -- --purge, then npm start', log: logOf(place, 'etcd') })
}

async function isEtcdHealthy(): Promise<boolean> {
  const script = `fetch('http://127.0.0.1:2379/health').then((r) => r.json()).then((h) => process.exit(h.health === 'true' ? 0 : 1), () => process.exit(1))`
  try {
    await waitFor('etcd', () => succeeds('nsenter', [`--net=${network.namespacePath}`, process.execPath, '-e', script]), {
      timeoutMilliseconds: 30_000,
      givenUp: async () => ((await isDaemonRunning(place, 'etcd')) ? undefined : 'it ended'),
    })
    return true
  } catch {
    return false
  }
}

async function ensureApiServer(): Promise<string> {
  const wasStarted = await ensureDaemon(place, await insideNamespace(buildApiServer(await controlPlaneSettings())))
  const wasOpened = await ensureWaysIn()
  try {
    await waitUntilReady(place, hostUrl, certificatePaths(paths.pki, 'ca').certificate)
  } catch (cause) {
    throw new StepError('the API server does not become ready', {
      remedy: 'read its log; `npm stop -- --purge` begins anew',
      log: logOf(place, 'kube-apiserver'),
      cause,
    })
  }
  return wasStarted || wasOpened ? `started, ${hostUrl} on this machine` : alreadyUp
}

async function ensureControllers(): Promise<string> {
  const { kubernetes } = await locatePrograms()
  const authority = certificatePaths(paths.pki, 'ca')
  const controllers = {
    kubeconfig: kubeconfigOf('kube-controller-manager'),
    'service-account-private-key-file': path.join(paths.pki, 'service-accounts.key'),
    'root-ca-file': authority.certificate,
    'cluster-signing-cert-file': authority.certificate,
    'cluster-signing-key-file': authority.key,
    'use-service-account-credentials': true,
    'leader-elect': false,
    'kube-api-qps': 100,
    'kube-api-burst': 200,
  }
  const scheduler = { kubeconfig: kubeconfigOf('kube-scheduler'), 'leader-elect': false }
  const daemons = Object.entries({ 'kube-controller-manager': controllers, 'kube-scheduler': scheduler }).map(([name, flags]) => ({
    name,
    command: path.join(kubernetes, name),
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
  }))
  const started = await Promise.all(daemons.map(async (daemon) => ensureDaemon(place, await insideNamespace(daemon))))
  return started.some(Boolean) ? 'started' : alreadyUp
}

async function ensureNode(facts: ClusterFacts): Promise<string> {
  const { kubernetes } = await locatePrograms()
  await ensurePause()
  const started = await Promise.all([ensureKubelet(kubernetes), ensureDns(kubernetes, facts.hasWayOut)])
  return started.some(Boolean) ? 'kubelet, kube-proxy and CoreDNS started' : alreadyUp
}

async function awaitNode(facts: ClusterFacts): Promise<string> {
  const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'containerd', 'kubelet', 'kube-proxy', 'coredns']
  const [internet] = await Promise.all([
    findInternet(facts.hasWayOut),
    // Without the `default` account no pod can be created.
    kubectl(['wait', '--for=create', 'serviceaccount/default', '--timeout=60s']),
    awaitReady().catch(async (cause) => {
      await requireRunning(programs)
      throw new StepError('the node does not become ready', { remedy: 'read its log', log: logOf(place, 'kubelet'), cause })
    }),
    ensureVolumes(),
  ])
  facts.internet = internet
  await requireRunning(programs)
  return `internet from the cluster: ${internet}`
}

async function awaitReady(): Promise<void> {
  await kubectl(['wait', '--for=create', `node/${network.nodeName}`, '--timeout=60s'])
  await kubectl(['wait', '--for=condition=Ready', `node/${network.nodeName}`, '--timeout=60s'])
}

/** For down.ts and tests: ends one control-plane program as a failure would. */
export const stopProgram = (name: string): Promise<boolean> => stopDaemon(place, name, 0)
