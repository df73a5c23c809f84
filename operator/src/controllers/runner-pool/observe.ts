import { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { readObject } from '../../kube/read-object.ts'
import { ordinalOf, podName, templateHash } from '../../runner/pod.ts'
import type { PoolContext } from './context.ts'
import type { PoolMemory, PoolObserved } from './state.ts'

const freshMemory = (): PoolMemory => ({
  surplusSince: undefined,
  lackSince: undefined,
  failedStarts: 0,
  lastFailureAt: 0,
  lastFailure: undefined,
  templateHash: '',
  statusWrittenAt: 0,
})

/** Collects the input of decide from the informer caches and this leader's memory only. */
export function observe(name: string, context: PoolContext): PoolObserved {
  const { config, reflectors, expectations, dispatcher, captureTimes, guard, podSettings, memories } = context
  const now = context.now().getTime()
  const object = reflectors.pools.lister.get(`${config.namespace}/${name}`)
  const pool = object && readObject('RunnerPool', RunnerPool, object)
  // Ignore pods that have the label but are not owned by this pool.
  const runners = context.runners
    .of(name, now)
    .filter(({ pod }) => pod.metadata.ownerReferences?.some(({ uid }) => uid === pool?.metadata.uid))
  const names = new Set(runners.map((runner) => runner.name))
  const unseen = expectations
    .unseenCreations(names, now)
    .filter((created) => podName(name, ordinalOf({ metadata: { name: created } })) === created)
  const memory = memories.get(name) ?? freshMemory()
  memories.set(name, memory)
  const hash = pool ? templateHash(pool.spec, podSettings) : ''
  // Failures of the old template do not apply to the new one.
  if (memory.templateHash !== hash) Object.assign(memory, { templateHash: hash, failedStarts: 0, lastFailure: undefined })
  const ordinals = [...runners.map(({ pod }) => ordinalOf(pod)), ...unseen.map((created) => ordinalOf({ metadata: { name: created } }))]
  return {
    pool,
    runners,
    unseen: unseen.length,
    nextOrdinal: Math.max(-1, ...ordinals) + 1,
    templateHash: hash,
    queued: dispatcher.queued(name),
    heldBack: dispatcher.heldBack(name),
    accountsWaiting: dispatcher.accountsWaiting(name),
    meanCaptureMilliseconds: captureTimes.of(name),
    guard: guard(),
    memory,
  }
}
