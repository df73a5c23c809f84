/**
 * What the cluster stands on: namespace, control groups, way out, certificates, and etcd's store. When part of it is gone or worn out,
 * what still runs on it is of no use and is ended first.
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
import { ensureNamespace, ensureWayOut, hasNamespace, insideNamespace, place } from './network.ts'

/** What a step says that had nothing to do. */
export const alreadyUp = 'already up'

/** What one step finds out and later ones need. */
export interface ClusterFacts {
  hasWayOut: boolean
  internet?: Internet
}

/** Namespace, control groups, way out and certificates. */
export async function ensureGround(facts: ClusterFacts): Promise<string> {
  const [isThere, areFresh] = await Promise.all([hasNamespace(), areIdentitiesFresh()])
  if (!isThere || !areFresh) await stopNode()
  if (areFresh) await writeKubeconfigs()
  else await createIdentities()
  await lay(facts)
  if (isThere && areFresh) return alreadyUp
  return facts.hasWayOut ? 'made' : 'made, without a way out: this kernel has no tun device'
}

/** How the embedded cluster's etcd and API server are run. */
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

/** A store that a crash damaged is set aside, and its volumes with it: records without their pictures would help nobody. */
export async function ensureEtcd(facts: ClusterFacts): Promise<string> {
  const settings = await controlPlaneSettings()
  if (!(await ensureDaemon(place, await insideNamespace(buildEtcd(settings))))) return alreadyUp
  const isHealthy = await isEtcdHealthy()
  if (isHealthy) return settings.fsync ? 'started, with fsync' : 'started'
  const isDamaged = !(await isDaemonRunning(place, 'etcd')) && isStoreDamaged(await readFile(logOf(place, 'etcd'), 'utf8'))
  if (!isDamaged) throw etcdError('read its log; `npm start` tries again')
  await setStoreAside()
  await lay(facts)
  await ensureDaemon(place, await insideNamespace(buildEtcd(settings)))
  if (!(await isEtcdHealthy())) throw etcdError('npm stop -- --purge, then npm start')
  return 'its store was damaged by a crash: rebuilt empty'
}

async function setStoreAside(): Promise<void> {
  await stopNode()
  await rm(`${paths.etcd}.damaged`, { recursive: true, force: true })
  await rename(paths.etcd, `${paths.etcd}.damaged`)
  await rm(paths.volumes, { recursive: true, force: true })
}

const etcdError = (remedy: string): StepError => new StepError('etcd does not come up', { remedy, log: logOf(place, 'etcd') })

async function lay(facts: ClusterFacts): Promise<void> {
  await ensureNamespace()
  await ensureCgroups()
  facts.hasWayOut = await ensureWayOut()
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
