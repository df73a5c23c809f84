// rbac: tintype.dev/screenshots get,list,watch
// rbac: tintype.dev/screenshots/status patch
// rbac: tintype.dev/runnerpools get,list,watch
// rbac: /pods get,list,watch,delete

/**
 * This controller observes Screenshots that have not finished, and the pods, RunnerPools and Accounts on which they depend. It queues each
 * one, claims a runner for it, sends the order, and ends attempts whose runner failed. It writes the status of Screenshots and deletes pods
 * that must not upload any more; the runner itself writes the result of a capture. It requeues a running Screenshot after ten seconds, or
 * after two while its runner does not respond, and CaptureWatcher enqueues it as soon as its capture ends.
 *
 * A reconcile reads observe.ts, decide.ts and apply.ts, in this order. finished.ts handles Screenshots that finish, and deletion.ts those
 * that are deleted.
 */

import type { Pod } from '@tintype/crds/client/kinds'
import { keyOf } from '@tintype/crds/client/kube-object'
import { isFinished, type RunnerClaim, Screenshot } from '@tintype/crds/kinds/screenshot'
import { isRestored } from '@tintype/crds/records/named-record'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { unitsOf } from '@tintype/crds/usage/usage'
import { type Controller, type Requeue, TerminalError } from '../../controller-runtime/controller.ts'
import { readObject } from '../../kube/read-object.ts'
import { endOf, podState, unchangedSince } from '../../runner/pod-state.ts'
import type { RunnerResponse } from '../../runner/runner-client.ts'
import { addressOf, CLAIM_INDEX, PHASE_INDEX } from '../../runner/runners.ts'
import { createController } from '../../runtime/deps.ts'
import type { AttemptId, LastResponse } from '../../scheduling/dispatch-tracker.ts'
import { canRecordIn } from '../../scheduling/dispatcher.ts'
import { isCharged } from '../quota/decide.ts'
import { apply } from './apply.ts'
import { buildContext, type ScreenshotContext, type ScreenshotDeps } from './context.ts'
import { decide, type Observed, type ObservedClaim, POLL_MILLISECONDS } from './decide.ts'
import { createDeletionController } from './deletion.ts'
import { noteFinished } from './finished.ts'
import { attemptsOf, isAlone } from './status.ts'

/** A reconcile mostly waits for the API server and for runners. */
const WORKERS = 64

export interface ScreenshotControllers {
  controllers: Controller[]
  enqueue: (key: string) => void
  /** Enqueues the Screenshots that have a claim on a pod. */
  enqueueClaimsOf: (podUid: string) => void
}

/** Creates the controllers of one term. Call `start` on them. */
export function createScreenshotControllers(deps: ScreenshotDeps): ScreenshotControllers {
  const enqueue = (key: string) => controller.enqueue(key)
  const context = buildContext(deps, enqueue)
  const controller: Controller = createController('screenshot', { workers: WORKERS }, (key) => reconcile(key, context), deps)
  const deletion = createDeletionController(deps)
  deps.archiving.onReleased = deletion.enqueueDeleted
  const noteDeleted = (shot: Screenshot) => {
    // A restored Screenshot has no files, and its record stays.
    if (!deps.archiving.noteDeleted(shot) && !isRestored(shot)) deletion.enqueueDeleted(shot)
  }
  controller.onStop(noteEnds(context, noteDeleted))
  watchChanges(controller, context)
  return {
    controllers: [controller, deletion.controller],
    enqueue,
    enqueueClaimsOf: (podUid) => claimsOf(podUid, context).forEach(enqueue),
  }
}

/** Notes Screenshots that finish or are deleted, and the runner time of their attempts. Returns an unsubscribe function. */
const noteEnds = (context: ScreenshotContext, onDeleted: (shot: Screenshot) => void): (() => void) =>
  context.reflectors.screenshots.addListener(({ type, object, old, source }) => {
    const isSame = old?.metadata.uid === object.metadata.uid
    const before = type === 'deleted' ? (old ?? object) : old
    const isDeleted = before !== undefined && (type === 'deleted' || !isSame)
    if (before && (isDeleted || hasEndedClaim(before, object))) chargeRunnerTime(before, context)
    if (isDeleted) onDeleted(before)
    else if (before && source !== 'list' && !isFinished(before) && isFinished(object)) noteFinished(object, context)
  })

/** True if the attempt that was running before is over. */
const hasEndedClaim = (before: Screenshot, after: Screenshot): boolean =>
  after.status?.phase !== 'Running' || attemptsOf(after) !== attemptsOf(before)

/** Charges the account for the runner time of an attempt that ended in any way, also because its Screenshot was deleted. */
function chargeRunnerTime(shot: Screenshot, { dispatcher, poolOf, now }: ScreenshotContext): void {
  const { phase, startTime } = shot.status ?? {}
  if (phase !== 'Running' || startTime === undefined) return
  const usage = { account: accountOf(shot), units: unitsOf(shot.spec) }
  dispatcher.chargeTime(poolOf(shot), usage, now().getTime() - Date.parse(startTime))
}

/** Which change enqueues which Screenshots. */
function watchChanges(controller: Controller, context: ScreenshotContext): void {
  const { reflectors, charge, poolOf } = context
  const waiting = (isWanted: (shot: Screenshot) => boolean) =>
    reflectors.screenshots.lister.byIndex(PHASE_INDEX, 'Pending').filter(isWanted).map(keyOf)
  // Ignore Screenshots that were finished when first seen: after a restart there may be ten thousand of them.
  controller.watch(reflectors.screenshots, ({ type, object, old }) =>
    type !== 'deleted' && isFinished(object) && (!old || isFinished(old)) ? undefined : keyOf(object),
  )
  // Uncharged Screenshots wait for their Account. A new plan may have another pool.
  controller.watch(reflectors.accounts, ({ type, object, old }) => {
    const isOwn = (shot: Screenshot) => accountOf(shot) === object.metadata.name
    if (type === 'added' || (old && isBeingDeleted(old))) return waiting((shot) => charge !== undefined && isOwn(shot) && !isCharged(shot))
    return old && old.spec.plan !== object.spec.plan ? waiting(isOwn) : []
  })
  controller.watch(reflectors.pods, ({ object }) => claimsOf(object.metadata.uid, context))
  controller.watch(reflectors.pools, ({ type, object, old }) =>
    type === 'modified' && object.spec.video === old?.spec.video ? [] : waiting((shot) => poolOf(shot) === object.metadata.name),
  )
}

const claimsOf = (podUid = '', { reflectors }: Pick<ScreenshotContext, 'reflectors'>): string[] =>
  reflectors.screenshots.lister.byIndex(CLAIM_INDEX, podUid).map(keyOf)

/** Reconciles one Screenshot. Level-triggered: it may run at any time and any number of times. */
async function reconcile(key: string, context: ScreenshotContext): Promise<Requeue> {
  try {
    const observed = await observe(key, context)
    context.onClaimChecked(key)
    const actions = decide(observed, context.now())
    return { requeueAfterMilliseconds: await apply(key, observed.shot, actions, context) }
  } catch (error) {
    // A Screenshot in backoff must not keep a runner, and one that cannot be read must not block dispatching.
    context.dispatcher.drop(key)
    if (error instanceof TerminalError) context.onClaimChecked(key)
    throw error
  }
}

/** Collects the input of decide: from the informer caches, and for a claim from its runner unless it responded just now. */
export async function observe(key: string, context: ScreenshotContext): Promise<Observed> {
  const { reflectors, runners, poolOf, charge } = context
  const { namespace } = context.config
  const object = reflectors.screenshots.lister.get(key)
  // Nothing is left to decide about a finished Screenshot.
  if (!object || isFinished(object)) return { shot: object, canRun: false, mustCharge: false, reserved: undefined, claim: undefined }
  const shot = readObject('Screenshot', Screenshot, object)
  const pool = reflectors.pools.lister.get(`${namespace}/${poolOf(shot)}`)
  const mustCharge = charge !== undefined && !isCharged(shot)
  const account = reflectors.accounts.lister.get(`${namespace}/${accountOf(shot)}`)
  const hasPayer = account ? !isBeingDeleted(account) : !mustCharge
  const { status } = shot
  return {
    shot,
    canRun: pool !== undefined && canRecordIn(shot, pool) && hasPayer,
    mustCharge,
    reserved: runners.reservedFor(key),
    cached: shot.spec.cachedFrom === undefined ? undefined : await context.cache.find(key, shot),
    archived: await context.restorer.find(shot),
    claim: status?.phase === 'Running' && status.runner ? await observeClaim(key, shot, status.runner, context) : undefined,
  }
}

async function observeClaim(key: string, shot: Screenshot, runner: RunnerClaim, context: ScreenshotContext): Promise<ObservedClaim> {
  const pod = await findPod(runner, context)
  const state = pod && podState(pod)
  const id = { attempt: attemptsOf(shot), podUid: runner.uid }
  const known = context.dispatchTracker.find(key, id)
  const hasEnded = !pod || state === 'ended'
  const podFacts = {
    isOwn: context.dispatchTracker.hasClaimed(key, id),
    pod: state === undefined ? 'gone' : state === 'terminating' || state === 'ended' ? state : 'up',
    isShared: hasEnded && !isAlone(shot) && context.runners.wasShared(runner.uid),
    end: pod ? endOf(pod) : context.runners.endOf(runner.uid),
    unreadySince: pod && state === 'waiting' ? new Date(unchangedSince(pod)) : undefined,
    terminatesBy: pod?.metadata.deletionTimestamp === undefined ? undefined : new Date(pod.metadata.deletionTimestamp),
  } as const
  if (hasEnded) return { ...podFacts, response: 'silent', delivered: known?.delivered ?? false }
  return { ...podFacts, ...(await pollRunner(shot, pod, { key, known, ...id }, context)) }
}

/** The claimed pod. If it is not in the cache, it is read from the API server: the cache of a new leader may be older than the claim. */
async function findPod({ pod: name, uid }: RunnerClaim, { runners, clients }: ScreenshotContext): Promise<Pod | undefined> {
  const cached = runners.podOf(uid)
  if (cached) return cached
  const pod = await clients.pods.find(name)
  return pod?.metadata.uid === uid ? pod : undefined
}

/** The runner's response about the capture. The latest one is reused if it is recent and the pod has not changed since. */
async function pollRunner(
  shot: Screenshot,
  pod: Pod,
  { key, known, ...id }: AttemptId & { key: string; known: LastResponse | undefined },
  context: ScreenshotContext,
): Promise<Pick<ObservedClaim, 'response' | 'delivered' | 'givenUp'>> {
  const { dispatchTracker, client } = context
  const podVersion = pod.metadata.resourceVersion
  if (known && known.podVersion === podVersion && context.now().getTime() - known.at < POLL_MILLISECONDS / 2) return known
  const address = addressOf(pod)
  const received: RunnerResponse =
    address.ip === '' ? { response: 'silent' } : await client.getCapture(address, shot.metadata.uid, id.attempt)
  const { response, givenUp } = received
  if (response === 'running') context.captureWatcher.watch({ key, uid: shot.metadata.uid, address, ...id })
  // A runner that knew the order once has received it, whichever leader sent it.
  const delivered = (known?.delivered ?? false) || (response !== 'absent' && response !== 'silent')
  const last = { ...id, podVersion, response, givenUp, delivered, at: context.now().getTime() }
  dispatchTracker.note(key, last)
  return last
}
