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

import { pods as podResource, tokenReviews } from '@tintype/crds/client/core-resources'
import { runnerPools } from '@tintype/crds/client/kinds'
import { keyOf, splitKey } from '@tintype/crds/client/kube-object'
import { Resource } from '@tintype/crds/client/resource'
import { DEFAULT_POOL, Label } from '@tintype/crds/identifiers/names'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import type { PoolMetrics } from '../../metrics/metrics.ts'
import type { Runner } from '../../runner/runners.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'
import type { TermState } from '../../scheduling/term-state.ts'
import type { GuardDecision } from '../guard/decision.ts'
import { apply } from './apply.ts'
import type { PoolContext } from './context.ts'
import { decide } from './decide.ts'
import { observe } from './observe.ts'
import { reconcileRunner } from './runner.ts'

const POOL_WORKERS = 2
const RUNNER_WORKERS = 16
/** How long changes of Screenshots are collected before their pool is reconciled. */
const COLLECT_MILLISECONDS = 50

export interface RunnerPoolOptions {
  deps: TermDeps
  term: TermState
  metrics: PoolMetrics
  guard: () => GuardDecision
  /** Called with the uid of a pod that can capture from now on. */
  onIdentified: (podUid: string) => void
}

export interface RunnerPoolControllers {
  controllers: Controller[]
  enqueueAll: () => void
  /** Removes the gauges of the pools: otherwise this process reports stale values while the next leader reports current ones. */
  removeGauges: () => void
}

/** Creates the controllers of one term. Call `start` on them. */
export function createRunnerPoolControllers({ deps, term, metrics, guard, onIdentified }: RunnerPoolOptions): RunnerPoolControllers {
  const { http, reflectors } = deps
  const { namespace } = deps.config
  const poolKeyOf = (name = DEFAULT_POOL) => `${namespace}/${name}`
  const context = buildContext({ deps, term, metrics, guard })
  const runnerContext = {
    ...context,
    client: term.client,
    reviews: new Resource(http, tokenReviews),
    onIdentified: ({ uid, pod }: Runner) => {
      pools.enqueue(poolKeyOf(pod.metadata.labels?.[Label.pool]))
      onIdentified(uid)
    },
  }
  const pools: Controller = createController('runnerpool', { workers: POOL_WORKERS }, (key) => reconcilePool(key, context), deps)
  const runners = createController('runner', { workers: RUNNER_WORKERS }, (key) => reconcileRunner(key, runnerContext), deps)
  watchChanges({ deps, term, pools, runners, poolKeyOf })
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

interface Watches extends Pick<RunnerPoolOptions, 'deps' | 'term'> {
  pools: Controller
  runners: Controller
  poolKeyOf: (name?: string) => string
}

/** Which change enqueues which pool or pod. */
function watchChanges({ deps: { reflectors }, term, pools, runners, poolKeyOf }: Watches): void {
  pools.watch(reflectors.pools)
  pools.watch(reflectors.pods, ({ object }) => poolKeyOf(object.metadata.labels?.[Label.pool]))
  pools.watchAndCollect(COLLECT_MILLISECONDS, reflectors.screenshots, ({ object, old }) => {
    if (old && old.status?.phase === object.status?.phase) return undefined
    const pool = term.poolOf(object)
    term.dispatcher.wake(pool)
    return poolKeyOf(pool)
  })
  runners.watch(reflectors.pods, ({ type, object }) => {
    if (type === 'deleted') term.runners.noteDeletedPod(object)
    return keyOf(object)
  })
}

function buildContext({ deps, term, metrics, guard }: Omit<RunnerPoolOptions, 'onIdentified'>): PoolContext {
  const { http, reflectors, events, log, keys, config } = deps
  const { namespace, release, logLevel, platform, maxFileBytes } = config
  const { runners, expectations, dispatcher, captureTimes, now } = term
  const { d: _, ...dispatchPublicKey } = keys.dispatchKey
  return {
    namespace,
    pools: new Resource(http, runnerPools, { namespace }),
    pods: new Resource(http, podResource, { namespace }),
    reflectors,
    runners,
    expectations,
    dispatcher,
    captureTimes,
    guard,
    podSettings: { namespace, release, logLevel, platform, dispatchPublicKey, maxFileBytes },
    memories: new Map(),
    events,
    metrics,
    log,
    now,
  }
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
