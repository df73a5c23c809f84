// rbac: tintype.dev/runnerpools get,list,watch
// rbac: tintype.dev/runnerpools/status patch
// rbac: /pods get,list,watch,create,delete

/**
 * This controller observes RunnerPools, their pods, and the phases of Screenshots. It creates and deletes runner pods and writes the status
 * of the pool. It requeues after 30 s, or sooner when a backoff or a delay ends. Changes of Screenshots are collected for 50 ms, but the
 * dispatcher is woken at once, so that an idle runner is used.
 *
 * A reconcile reads observe.ts, decide.ts and apply.ts, in this order. runner.ts identifies the pods.
 */

import { keyOf, splitKey } from '@tintype/crds/client/kube-object'
import { DEFAULT_POOL, Label } from '@tintype/crds/identifiers/names'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { createController } from '../../runtime/deps.ts'
import { apply } from './apply.ts'
import type { PoolContext, PoolDeps } from './context.ts'
import { decide } from './decide.ts'
import { observe } from './observe.ts'
import { reconcileRunner } from './runner.ts'

const POOL_WORKERS = 2
const RUNNER_WORKERS = 16
/** How long changes of Screenshots are collected before their pool is reconciled. */
const COLLECT_MILLISECONDS = 50

export interface RunnerPoolControllers {
  controllers: Controller[]
  enqueueAll: () => void
  /** Removes the gauges of the pools: otherwise this process reports stale values while the next leader reports current ones. */
  removeGauges: () => void
}

/** Creates the controllers of one term. Call `start` on them. */
export function createRunnerPoolControllers(deps: PoolDeps): RunnerPoolControllers {
  const { reflectors, config, keys, metrics } = deps
  const { d: _, ...dispatchPublicKey } = keys.dispatchKey
  const context: PoolContext = { ...deps, podSettings: { ...config, dispatchPublicKey }, memories: new Map() }
  const pools = createController('runnerpool', { workers: POOL_WORKERS }, (key) => reconcilePool(key, context), deps)
  const reconcileOne = (key: string) => reconcileRunner(key, context, (pool) => pools.enqueue(`${config.namespace}/${pool}`))
  const runners = createController('runner', { workers: RUNNER_WORKERS }, reconcileOne, deps)
  watchChanges(context, pools, runners)
  return {
    controllers: [pools, runners],
    enqueueAll: () => {
      for (const key of reflectors.pools.lister.keys()) pools.enqueue(key)
    },
    removeGauges: () => {
      for (const { metadata: pool } of reflectors.pools.lister.list()) metrics.onPoolGone(pool.name)
    },
  }
}

/** Which change enqueues which pool or pod. */
function watchChanges(context: PoolContext, pools: Controller, runners: Controller): void {
  const { reflectors, dispatcher, poolOf, config } = context
  pools.watch(reflectors.pools)
  pools.watch(reflectors.pods, ({ object }) => `${config.namespace}/${object.metadata.labels?.[Label.pool] ?? DEFAULT_POOL}`)
  pools.watchAndCollect(COLLECT_MILLISECONDS, reflectors.screenshots, ({ type, object, old }) => {
    if (type !== 'deleted' && old && old.status?.phase === object.status?.phase) return undefined
    const pool = poolOf(object)
    dispatcher.wake(pool)
    return `${config.namespace}/${pool}`
  })
  runners.watch(reflectors.pods, ({ type, object }) => {
    if (type === 'deleted') context.runners.noteDeletedPod(object)
    return keyOf(object)
  })
}

/** Reconciles one RunnerPool. */
export async function reconcilePool(key: string, context: PoolContext): Promise<Requeue> {
  const { name } = splitKey(key)
  const observed = observe(name, context)
  if (!observed.pool) {
    context.memories.delete(name)
    context.metrics.onPoolGone(name)
  }
  const requeueAfterMilliseconds = await apply(observed, decide(observed, context.now()), context)
  // The end of a backoff and a restored admission policy cause no watch event.
  context.dispatcher.wake(name)
  return { requeueAfterMilliseconds }
}
