/**
 * Prerequisites of the cluster: network namespace, control groups, outbound network, certificates, and etcd's store. If one is missing or a
 * certificate is about to expire, the programs that depend on it are stopped first.
 */
import { readFile, rename, rm } from 'node:fs/promises'
import { ensureDaemon, isDaemonRunning, logOf } from '../host/daemons.ts'
import { succeeds } from '../host/exec.ts'
import { choices, network, paths } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import { waitFor } from '../host/wait.ts'
import { locatePrograms } from '../programs/programs.ts'
import { ensureCgroups } from './cgroups.ts'
import { buildEtcd, type ControlPlaneSettings } from './control-plane.ts'
import { stopNode } from './down.ts'
import { isStoreDamaged } from './etcd-store.ts'
import { areIdentitiesFresh, createIdentities, writeKubeconfigs } from './identities.ts'
import type { Internet } from './internet.ts'
import { ensureNamespace, ensureOutboundNetwork, hasNamespace, insideNamespace, place } from './network.ts'

/** Result of a step that changed nothing. */
export const alreadyUp = 'already up'

/** Facts that one step finds and later steps need. */
export interface ClusterFacts {
  hasOutboundNetwork: boolean
  internet?: Internet
}

/** Ensures namespace, control groups, outbound network and certificates. */
export async function ensurePrerequisites(facts: ClusterFacts): Promise<string> {
  const [isThere, areFresh] = await Promise.all([hasNamespace(), areIdentitiesFresh()])
  if (!isThere || !areFresh) await stopNode()
  if (areFresh) await writeKubeconfigs()
  else await createIdentities()
  await ensureNetworkAndCgroups(facts)
  if (isThere && areFresh) return alreadyUp
  return facts.hasOutboundNetwork ? 'created' : 'created without outbound network: this kernel has no tun device'
}

/** Settings of the embedded cluster's etcd and API server. */
export async function controlPlaneSettings(): Promise<ControlPlaneSettings> {
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

/** Starts etcd. A store that a crash damaged is moved aside, and the volumes are removed with it, because records and files must match. */
export async function ensureEtcd(facts: ClusterFacts): Promise<string> {
  const settings = await controlPlaneSettings()
  if (!(await ensureDaemon(place, await insideNamespace(buildEtcd(settings))))) return alreadyUp
  const isHealthy = await isEtcdHealthy()
  if (isHealthy) return settings.fsync ? 'started, with fsync' : 'started'
  const isDamaged = !(await isDaemonRunning(place, 'etcd')) && isStoreDamaged(await readFile(logOf(place, 'etcd'), 'utf8'))
  if (!isDamaged) throw etcdError('read its log, then run `npm start` again')
  await setStoreAside()
  await ensureNetworkAndCgroups(facts)
  await ensureDaemon(place, await insideNamespace(buildEtcd(settings)))
  if (!(await isEtcdHealthy())) throw etcdError('npm stop -- --purge, then npm start')
  return 'a crash damaged the store: started with an empty one'
}

async function setStoreAside(): Promise<void> {
  await stopNode()
  await rm(`${paths.etcd}.damaged`, { recursive: true, force: true })
  await rename(paths.etcd, `${paths.etcd}.damaged`)
  await rm(paths.volumes, { recursive: true, force: true })
}

const etcdError = (remedy: string): StepError => new StepError('etcd did not start', { remedy, log: logOf(place, 'etcd') })

async function ensureNetworkAndCgroups(facts: ClusterFacts): Promise<void> {
  await ensureNamespace()
  await ensureCgroups()
  facts.hasOutboundNetwork = await ensureOutboundNetwork()
}

async function isEtcdHealthy(): Promise<boolean> {
  const script = `fetch('http://127.0.0.1:2379/health').then((r) => r.json()).then((h) => process.exit(h.health === 'true' ? 0 : 1), () => process.exit(1))`
  try {
    await waitFor('etcd', () => succeeds('nsenter', [`--net=${network.namespacePath}`, process.execPath, '-e', script]), {
      timeoutMilliseconds: 30_000,
      findFailure: async () => ((await isDaemonRunning(place, 'etcd')) ? undefined : 'it ended'),
    })
    return true
  } catch {
    return false
  }
}
