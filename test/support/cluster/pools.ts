import type { Test } from 'tap'
import { API_VERSION, DEFAULT_POOL, Label } from '../../../crds/src/identifiers/names.ts'
import type { RunnerPool, RunnerPoolSpec } from '../../../crds/src/kinds/runner-pool.ts'
import { eventually } from '../eventually.ts'
import { kubectl, kubectlJson, requireKubectl } from './environment.ts'

// RunnerPools of one test, whose runners have their own egress rules and no work of other tests.

/** A ready runner. */
export interface RunnerPod {
  name: string
  uid: string
  ip: string
}

/** A unique suffix for the objects of this run. */
export const run = Date.now().toString(36)

/** Creates one object, which is deleted with the test. `as`: additional arguments of kubectl. */
export async function createObject(
  t: Test,
  object: { kind: string; metadata: { name: string; namespace?: string } },
  as: readonly string[] = [],
): Promise<void> {
  const { kind, metadata } = object
  const namespace = metadata.namespace === undefined ? [] : ['-n', metadata.namespace]
  t.teardown(() => kubectl([...namespace, 'delete', kind, metadata.name, '--wait=false', '--ignore-not-found']))
  await requireKubectl([...as, 'create', '-f', '-'], JSON.stringify(object))
}

/** Creates an object of one of Tintype's kinds, which is deleted with the test. */
export function createKind(t: Test, kind: string, name: string, spec: object, as?: readonly string[]): Promise<void> {
  const object = { apiVersion: API_VERSION, kind, metadata: { name }, spec }
  return createObject(t, object, as)
}

/** Creates a pool like the chart's default one with `changes`, and resolves to its name. It is deleted with the test. */
export async function createPool(t: Test, purpose: string, changes: Partial<RunnerPoolSpec> = {}): Promise<string> {
  const { spec } = await kubectlJson<RunnerPool>(['get', 'runnerpool', DEFAULT_POOL])
  const name = `${purpose}-${run}`
  await createKind(t, 'RunnerPool', name, { ...spec, minIdle: 1, maxPods: 1, ...changes })
  return name
}

/** Waits until a pool reports `count` idle runners, and resolves to the ready ones, oldest first. */
export async function idleRunners(pool: string, count = 1): Promise<RunnerPod[]> {
  await eventually(`${pool} has ${count} idle`, async () => ((await poolOf(pool)).status?.idle ?? 0) >= count, 120_000)
  return readyRunners(pool)
}

/** The ready pods of a pool. */
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

/** The current state of a pool. */
export const poolOf = (name: string): Promise<RunnerPool> => kubectlJson<RunnerPool>(['get', 'runnerpool', name])

interface Pod {
  metadata: { name: string; uid: string }
  status: { podIP?: string; conditions?: { type: string; status: string }[] }
}
