import type { Test } from 'tap'
import { API_VERSION } from '../../../crds/src/identifiers/names.ts'
import type { RunnerPoolSpec } from '../../../crds/src/kinds/runner-pool.ts'
import type { ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { network } from '../../cluster/host/state.ts'
import { captureAll } from '../cluster/batch.ts'
import { kubectl, kubectlJson } from '../cluster/environment.ts'
import { createObject, createPool, idleRunners, type RunnerPod, run } from '../cluster/pools.ts'
import { startInCluster } from '../cluster/program.ts'
import { eventually } from '../eventually.ts'
import type { AttackGround } from './attack-program.ts'
import type { Arrival } from './attack-site.ts'
import { nameOf } from './attack-zone.ts'
import { giveIpv6, listenInPod, useNameServer } from './pod-network.ts'

// Setup of the attack tests.

const ULA = 'fd00::1'

export const GROUND: AttackGround = {
  site: '203.0.114.30',
  outside: '203.0.114.31',
  dead: '203.0.114.32',
  dns: '10.0.0.53',
  clusterDns: network.nodeAddress,
  inside: ['169.254.169.254', '100.100.100.200', ULA, '10.0.0.1', '10.0.0.2'],
}

/** The attacking page. */
export const SITE = `http://${nameOf(GROUND.site)}`

/** Port of the listener in each attacking pod. */
export const POD_PORT = 8099

/** Egress rules that allow all targets as far as rules can. */
export const OPEN = { allowedCidrs: ['127.0.0.0/8', '10.0.0.0/8', '169.254.169.254/32', '100.100.100.200/32', 'fc00::/7'] }

/** Options of an attacking capture. */
export const ATTACK_OPTIONS = { viewportWidth: 200, viewportHeight: 200, timeout: 15_000 }

/** Starts the servers. The array receives the arrivals. */
export const startAttackGround = (t: Test): Promise<Arrival[]> => startInCluster<Arrival>(t, 'attack/attack-program.ts', GROUND)

/** A pool with one runner that can reach the servers and uses their name server. Arrivals in its pod are added to `arrivals`. */
export async function createAttacker(
  t: Test,
  { purpose, ipv6, ...changes }: Partial<RunnerPoolSpec> & { purpose: string; ipv6: string },
): Promise<{ pool: string; pod: RunnerPod; arrivals: Arrival[] }> {
  const pool = await createPool(t, purpose, { capturesPerPod: 1000, ...changes })
  const [pod] = (await idleRunners(pool)) as [RunnerPod]
  await giveIpv6(pod, ipv6, ULA)
  await useNameServer(pod, GROUND.dns)
  const arrivals = await listenInPod(t, pod.name, POD_PORT)
  // Tabs that were opened in advance, also in the standby browser for another account, still use the old name server.
  const another = { apiVersion: API_VERSION, kind: 'Account', metadata: { name: 'another' }, spec: { plan: 'scale' } }
  await kubectl(['apply', '-f', '-'], JSON.stringify(another))
  for (const accountName of ['default', 'another']) {
    const spec: ScreenshotSpec = { url: `${SITE}/go/none`, poolName: pool, accountName, options: ATTACK_OPTIONS }
    await eventually(`${pool} captures the site by its name`, async () => (await captureAll(t, [spec]))[0]?.status?.phase === 'Completed')
  }
  return { pool, pod, arrivals }
}

/** Creates a Service for one of the listeners, and resolves to its address. */
export async function createService(t: Test, listener: string): Promise<string> {
  const name = `attack-${run}`
  const ports = [{ name: 'http', port: 80 }]
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports } }
  await createObject(t, service)
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [listener] }],
    ports,
  }
  await createObject(t, slice)
  return (await kubectlJson<{ spec: { clusterIP: string } }>(['get', 'service', name])).spec.clusterIP
}
