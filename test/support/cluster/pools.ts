import type { Test } from 'tap'
import { API_VERSION, DEFAULT_POOL, Label } from '../../../crds/src/identifiers/names.ts'
import type { RunnerPool, RunnerPoolSpec } from '../../../crds/src/kinds/runner-pool.ts'
import { eventually } from '../eventually.ts'
import { kubectl, kubectlJson } from './environment.ts'

// RunnerPools of a test's own, so that its runners do nobody else's work and open nobody else's rules.

/** A runner that the kubelet calls ready. */
export interface RunnerPod {
  name: string
  uid: string
  ip: string
}

/** A word that no earlier run has used for its objects. */
export const run = Date.now().toString(36)

/** Creates one object; it is deleted with the test. `as`: further arguments of kubectl. */
export async function createObject(
  t: Test,
  object: { kind: string; metadata: { name: string; namespace?: string } },
  as: readonly string[] = [],
): Promise<void> {
  const { kind, metadata } = object
  const namespace = metadata.namespace === undefined ? [] : ['-n', metadata.namespace]
  t.teardown(() => kubectl([...namespace, 'delete', kind, metadata.name, '--wait=false', '--ignore-not-found']))
  const { code, stderr } = await kubectl([...as, 'create', '-f', '-'], JSON.stringify(object))
  if (code !== 0) throw new Error(`create ${kind} ${metadata.name}: ${stderr}`)
}

/** A pool as the chart's default one, but for `changes`; goes with the test, and its pods with it. Gives its name. */
export async function createPool(t: Test, purpose: string, changes: Partial<RunnerPoolSpec> = {}): Promise<string> {
  const { spec } = await kubectlJson<RunnerPool>(['get', 'runnerpool', DEFAULT_POOL])
  const name = `${purpose}-${run}`
  const size = { minIdle: 1, maxPods: 1 }
  await createObject(t, { apiVersion: API_VERSION, kind: 'RunnerPool', metadata: { name }, spec: { ...spec, ...size, ...changes } } as {
    kind: string
    metadata: { name: string }
  })
  return name
}

/** Waits until a pool counts `count` idle runners, and gives those that are ready, oldest first. */
export async function idleRunners(pool: string, count = 1): Promise<RunnerPod[]> {
  await eventually(`${pool} has ${count} idle`, async () => ((await poolOf(pool)).status?.idle ?? 0) >= count, 120_000)
  return readyRunners(pool)
}

/** The pods of a pool that are ready now. */
export async function readyRunners(pool: string): Promise<RunnerPod[]> {
  const { items } = await kubectlJson<{ items: Pod[] }>([
    'get',
    'pods',
    '-l',
    `${Label.pool}=${pool}`,
    '--sort-by=.metadata.creationTimestamp',
  ])
  return items
    .filter(({ status }) => status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True'))
    .map(({ metadata, status }) => ({ name: metadata.name, uid: metadata.uid, ip: status.podIP ?? '' }))
}

/** A pool as it is now. */
export const poolOf = (name: string): Promise<RunnerPool> => kubectlJson<RunnerPool>(['get', 'runnerpool', name])

interface Pod {
  metadata: { name: string; uid: string }
  status: { podIP?: string; conditions?: { type: string; status: string }[] }
}
