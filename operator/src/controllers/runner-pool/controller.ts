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

import type { Pod } from '@tintype/crds/client/kinds'
import { isAlreadyExists, isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import { keyOf, splitKey } from '@tintype/crds/client/kube-object'
import { API_VERSION, DEFAULT_POOL, Label } from '@tintype/crds/identifiers/names'
import { RunnerPool, type RunnerPoolStatus } from '@tintype/crds/kinds/runner-pool'
import { isFenced } from '@tintype/crds/runtime/fence'
import { type Controller, type Requeue, RetryableError } from '../../controller-runtime/controller.ts'
import { patchStatus } from '../../kube/clients.ts'
import type { PoolReason } from '../../kube/condition-reasons.ts'
import { readObject } from '../../kube/read-object.ts'
import { identify } from '../../runner/identity.ts'
import { buildRunnerPod, ordinalOf, type PodSettings, podName, templateHash } from '../../runner/pod.ts'
import { addressOf, type Runner } from '../../runner/runners.ts'
import { createController } from '../../runtime/deps.ts'
import type { PoolMetrics } from '../../runtime/metrics.ts'
import { group } from '../../scheduling/growth.ts'
import type { CaptureDeps } from '../../scheduling/term-state.ts'
import type { GuardDecision } from '../guard/controller.ts'
import { buildStatus, changedConditions, hasOtherCounts, isUrgent, poolEvents } from './conditions.ts'
import { decide, type PoolAction, type PoolMemory, type PoolObserved } from './decide.ts'

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
async function reconcilePool(key: string, context: PoolContext): Promise<Requeue> {
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

interface PoolDeps extends CaptureDeps {
  guard: () => GuardDecision
  metrics: PoolMetrics
  /** Called with the uid of a pod that can capture from now on. */
  onIdentified: (podUid: string) => void
}

/** Dependencies of the RunnerPool controllers during one term. */
interface PoolContext extends PoolDeps {
  podSettings: PodSettings
  /** By pool name. */
  memories: Map<string, PoolMemory>
}

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

/** Counts change with each capture, so they are written at most this often. */
const STATUS_MILLISECONDS = 2_000
const DELETE_GRACE_SECONDS = 5

/** Executes the actions in order, then writes the status if it changed. Returns the delay until the next reconcile. */
async function apply(observed: PoolObserved, actions: PoolAction[], context: PoolContext): Promise<number | undefined> {
  let requeue: number | undefined
  const sooner = (milliseconds: number | undefined) => {
    if (milliseconds !== undefined) requeue = Math.min(requeue ?? Number.POSITIVE_INFINITY, milliseconds)
  }
  for (const action of actions) {
    if (action.do === 'requeue') sooner(action.afterMilliseconds)
    else if (action.do === 'noteSurplus') observed.memory.surplusSince = action.since
    else if (action.do === 'noteLack') observed.memory.lackSince = action.since
    else if (action.do === 'noteFailedStart') noteFailedStart(observed, action, context)
    else if (action.do === 'delete') await deletePod(action, context)
    else await createPods(observed, action.ordinals, context).catch((error: unknown) => noteRefusal(observed, error, context))
  }
  if (observed.pool) sooner(await writeStatus({ ...observed, pool: observed.pool }, context))
  return requeue
}

function noteFailedStart(
  { memory }: PoolObserved,
  { runner, text }: Extract<PoolAction, { do: 'noteFailedStart' }>,
  { log, now }: PoolContext,
): void {
  memory.failedStarts++
  memory.lastFailureAt = now().getTime()
  memory.lastFailure = { reason: 'RunnersFailing', message: text }
  log.warn({ runnerPod: runner.name, uid: runner.uid, text }, 'runner did not start')
}

/** The API server rejects new pods: the condition says why, and the creation is retried with backoff. */
function noteRefusal({ memory }: PoolObserved, error: unknown, { log, now }: PoolContext): void {
  if (!(error instanceof RetryableError) || isFenced(error)) throw error
  memory.failedStarts++
  memory.lastFailureAt = now().getTime()
  const message = `the API server rejected the runner pod: ${error.cause instanceof Error ? error.cause.message : 'unknown reason'}`
  memory.lastFailure = { reason: 'PodsRefused', message }
  log.warn({ err: error }, 'runner pod not created')
}

/** Creates one pod, then two, then four at a time: an error that affects all pods shows at the first one. */
async function createPods({ pool }: PoolObserved, ordinals: number[], context: PoolContext): Promise<void> {
  if (!pool) return
  for (let done = 0, batch = 1; done < ordinals.length; done += batch, batch *= 2) {
    await Promise.all(ordinals.slice(done, done + batch).map((ordinal) => createPod(pool, ordinal, context)))
  }
}

async function createPod(pool: RunnerPool, ordinal: number, context: PoolContext): Promise<void> {
  const { clients, expectations, podSettings, metrics, now } = context
  const name = podName(pool.metadata.name, ordinal)
  expectations.expectCreation(name, now().getTime())
  try {
    await clients.pods.create(buildRunnerPod(pool, ordinal, podSettings))
    metrics.podsCreated.inc()
  } catch (error) {
    expectations.forget(name)
    // Created by an earlier try whose response was lost, or by another leader. Use the existing pod.
    if (isAlreadyExists(error)) return observeExisting(name, context)
    // Includes exceeded quotas and rejected templates: a later try may succeed.
    throw new RetryableError(`create runner pod ${name}`, { cause: error })
  }
}

async function observeExisting(name: string, { clients, reflectors }: PoolContext): Promise<void> {
  const pod = await clients.pods.find(name)
  if (pod) reflectors.pods.noteWritten(pod)
}

async function deletePod({ runner, reason }: Extract<PoolAction, { do: 'delete' }>, context: PoolContext): Promise<void> {
  const { clients, expectations, metrics, log, now } = context
  const { name, uid } = runner
  expectations.expectDeletion(uid, now().getTime())
  try {
    await clients.pods.delete(name, { uid, gracePeriodSeconds: reason === 'ended' ? 0 : DELETE_GRACE_SECONDS })
    metrics.podsDeleted.inc({ reason })
    log.info({ runnerPod: name, uid, reason }, 'runner pod deleted')
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return
    expectations.forget(uid)
    throw new RetryableError(`delete runner pod ${name}`, { cause: error })
  }
}

/** Epoch milliseconds of the oldest filter lists in use. */
function oldestLists(runners: readonly Runner[]): number | undefined {
  const times = runners.flatMap(({ listsUpdated }) => (listsUpdated === undefined ? [] : [Date.parse(listsUpdated)]))
  return times.length > 0 ? Math.min(...times) : undefined
}

/** Writes changed conditions at once and counts occasionally. Returns the delay until deferred counts are due. */
async function writeStatus(observed: PoolObserved & { pool: RunnerPool }, context: PoolContext): Promise<number | undefined> {
  const { clients, metrics } = context
  const { pool, memory } = observed
  const now = context.now()
  const status = buildStatus(observed, group(observed, now.getTime()), now)
  metrics.onStatus(pool.metadata.name, status, oldestLists(observed.runners))
  const changed = changedConditions(pool.status, status)
  if (!changed.some(isUrgent)) {
    if (changed.length === 0 && !hasOtherCounts(pool.status, status)) return undefined
    const left = memory.statusWrittenAt + STATUS_MILLISECONDS - now.getTime()
    if (left > 0) return left
  }
  const written = await patchStatus(clients.pools, pool, status)
  memory.statusWrittenAt = now.getTime()
  if (written) recordEvents(written, pool.status, context)
  return undefined
}

function recordEvents(pool: RunnerPool, before: RunnerPoolStatus | undefined, { events }: PoolContext): void {
  const object = { ...pool, apiVersion: API_VERSION, kind: 'RunnerPool' }
  for (const { type, reason, message } of poolEvents(before, pool.status)) {
    if (type === 'Warning') events.warn(object, reason, message)
    else events.normal(object, reason, message)
  }
}

// rbac: authentication.k8s.io/tokenreviews create

/**
 * This controller observes runner pods. It identifies each ready pod once per term: the pod proves its identity with a token and reports its
 * browser, its sandbox and its key. It writes only to the leader's memory, then wakes the dispatcher and enqueues what waits for the pod.
 */

/** Reconciles one runner pod: a ready pod is identified once per term. @param enqueuePool reconciles a pool with a new runner */
async function reconcileRunner(key: string, context: PoolContext, enqueuePool: (pool: string) => void): Promise<Requeue> {
  const { runners, dispatcher, memories, metrics, now } = context
  const runner = runners.find(key, now().getTime())
  if (!runner) return {}
  const pool = runner.pod.metadata.labels?.[Label.pool] ?? ''
  if (runner.state === 'ready' && runner.sandbox === undefined && isOwned(runner.pod, pool, context)) {
    const { serviceAccountName = '' } = runner.pod.spec ?? {}
    const identity = await identify(context.client, context.clients.tokenReviews, {
      ...addressOf(runner.pod),
      namespace: context.config.namespace,
      serviceAccountName,
    })
    runners.noteIdentity(runner.uid, identity, now().getTime())
    const memory = memories.get(pool)
    if (memory) memory.failedStarts = 0
    warnOfClockSkew(runner, pool, context)
    metrics.startupSeconds.observe((now().getTime() - Date.parse(runner.pod.metadata.creationTimestamp ?? '')) / 1_000)
    enqueuePool(pool)
    context.onIdentified(runner.uid)
  }
  dispatcher.wake(pool)
  return {}
}

/** Clock differences below this are normal. */
const MAX_SKEW_MILLISECONDS = 30_000

/** Captures use the runner's clock and continue. But records, logs and signatures of other programs then mix times of two clocks. */
function warnOfClockSkew(runner: Runner, pool: string, { client, events, reflectors, config }: PoolContext): void {
  const ahead = client.clockAheadMilliseconds(runner)
  const object = reflectors.pools.lister.get(`${config.namespace}/${pool}`)
  if (!object || Math.abs(ahead) < MAX_SKEW_MILLISECONDS) return
  const difference = `${Math.round(Math.abs(ahead) / 1_000)} s ${ahead > 0 ? 'ahead of' : 'behind'}`
  const message = `the clock of node ${runner.pod.spec?.nodeName} is ${difference} the operator’s. Synchronize both clocks with NTP.`
  events.warn({ ...object, apiVersion: API_VERSION, kind: 'RunnerPool' }, 'ClockSkewed' satisfies PoolReason, message)
}

function isOwned({ metadata }: Pod, pool: string, { reflectors, config }: PoolContext): boolean {
  const uid = reflectors.pools.lister.get(`${config.namespace}/${pool}`)?.metadata.uid
  return uid !== undefined && (metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false)
}
