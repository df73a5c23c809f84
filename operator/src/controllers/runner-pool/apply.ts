import { isAlreadyExists, isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import type { RunnerPool, RunnerPoolStatus } from '@tintype/crds/kinds/runner-pool'
import { isFenced } from '@tintype/crds/runtime/fence'
import { RetryableError } from '../../controller-runtime/errors.ts'
import { patchStatus } from '../../kube/patch-seen.ts'
import { buildRunnerPod, podName } from '../../runner/pod.ts'
import type { Runner } from '../../runner/runners.ts'
import { group } from '../../scheduling/groups.ts'
import { buildStatus, changedConditions, hasOtherCounts, isUrgent, poolEvents } from './conditions.ts'
import type { PoolContext } from './context.ts'
import type { PoolAction, PoolObserved } from './state.ts'

/** Counts change with each capture, so they are written at most this often. */
const STATUS_MILLISECONDS = 2_000
const DELETE_GRACE_SECONDS = 5

/** Executes the actions in order, then writes the status if it changed. Returns the delay until the next reconcile. */
export async function apply(observed: PoolObserved, actions: PoolAction[], context: PoolContext): Promise<number | undefined> {
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
