import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict, isInvalid, isNotFound } from '@tintype/crds/client/kube-error'
import { keyOf } from '@tintype/crds/client/kube-object'
import { mergePatch } from '@tintype/crds/client/patch'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { CacheEntry } from '@tintype/crds/records/cache'
import { accountOf } from '@tintype/crds/records/record'
import { repeat } from '@tintype/crds/runtime/retry'
import { unitsOf } from '@tintype/crds/usage/units'
import { RetryableError } from '../../controller-runtime/errors.ts'
import { SCREENSHOT_REASONS, type ScreenshotReason } from '../../kube/condition-reasons.ts'
import { OptionsError, openOptions } from '../../options/open-options.ts'
import type { EncryptionKey } from '../../runner/encrypt-order.ts'
import type { CaptureResponse, DispatchOutcome, RunnerAddress } from '../../runner/runner-client.ts'
import { addressOf, CLAIM_INDEX } from '../../runner/runners.ts'
import { CRASH_RECOVERY_SECONDS, MAX_CRASHES } from '../../scheduling/crash-budget.ts'
import { findBaseline } from './baseline.ts'
import { chargeFor, mustBeCharged } from './charge.ts'
import type { ScreenshotContext } from './context.ts'
import { type Action, decideAfterDispatch } from './decide.ts'
import { buildOrder, filesOf } from './order.ts'
import {
  attemptsOf,
  buildClaim,
  buildFailure,
  buildNote,
  buildRestored,
  buildReuse,
  buildUnclaim,
  isAlone,
  type StatusPatch,
} from './status.ts'

/** How long, and how often, to retry an order while the runner still reports its last capture. */
const BUSY_RETRY_LIMIT_MILLISECONDS = 2_000
const BUSY_RETRY_MILLISECONDS = 25
const IMMEDIATE_REQUEUE_MILLISECONDS = 1

/**
 * Executes the actions in order. Each write carries the resourceVersion on which the decision is based. The first failure stops the
 * execution.
 */
export async function apply(
  key: string,
  shot: Screenshot | undefined,
  actions: Action[],
  context: ScreenshotContext,
): Promise<number | undefined> {
  let current = shot
  let requeue: number | undefined
  const todo = [...actions]
  for (let action = todo.shift(); action; action = todo.shift()) {
    if (action.do === 'requeue') requeue = Math.min(requeue ?? Number.POSITIVE_INFINITY, action.afterMilliseconds)
    else if (action.do === 'release') release(key, current, context)
    else if (!current) continue
    else if (action.do === 'reuse') requeue = (await reuse(key, current, action.entry, context)) ? requeue : IMMEDIATE_REQUEUE_MILLISECONDS
    else if (action.do === 'restore') requeue = (await restore(current, action.record, context)) ? requeue : IMMEDIATE_REQUEUE_MILLISECONDS
    else if (action.do === 'dispatch') todo.unshift(...(await sendOrder(key, current, context)))
    else {
      const refusal = action.do === 'claim' ? await chargeFor(current, context) : undefined
      // A Screenshot that cannot be charged gets no runner: drop the remaining actions of the claim too.
      if (refusal) todo.splice(0, todo.length, ...refusal)
      else current = await act(key, current, action, context)
    }
  }
  return requeue
}

/** Returns true when the Screenshot is completed. Otherwise the picture no longer exists, and the page must be captured. */
async function reuse(key: string, shot: Screenshot, entry: CacheEntry, context: ScreenshotContext): Promise<boolean> {
  const began = context.now()
  const result = await context.cache.take(key, shot, entry)
  if (!result) return false
  await write(shot, buildReuse(shot, result, began, context.now()), context)
  return true
}

/** Returns true when the Screenshot is completed. Otherwise the page must be captured, because the API server refuses the old result. */
async function restore(shot: Screenshot, record: Screenshot, context: ScreenshotContext): Promise<boolean> {
  try {
    await write(shot, buildRestored(shot, record, context.now()), context)
    context.log.info({ key: keyOf(shot), record: screenshotIdOf(record.metadata) }, 'screenshot restored from its archived record')
    return true
  } catch (error) {
    if (!isInvalid(error)) throw error
    context.restorer.forbid(shot)
    return false
  }
}

type OtherAction = Exclude<Action, { do: 'requeue' | 'release' | 'dispatch' | 'reuse' | 'restore' }>

async function act(key: string, shot: Screenshot, action: OtherAction, context: ScreenshotContext): Promise<Screenshot> {
  const now = context.now()
  switch (action.do) {
    case 'queue':
      queue(key, shot, context)
      return shot
    case 'removeFiles':
      await context.storage.removePrefix(filesOf(shot))
      return shot
    case 'claim': {
      const claimed = await write(shot, buildClaim(shot, action.runner, now, mustBeCharged(shot, context)), context)
      context.dispatchTracker.noteClaim(key, { attempt: attemptsOf(claimed), podUid: action.runner.uid })
      context.dispatcher.drop(key)
      if (attemptsOf(claimed) === 1) context.metrics.onClaim(now.getTime() - createdAtOf(screenshotIdOf(shot.metadata)).getTime())
      return claimed
    }
    case 'note': {
      const noted = await write(shot, buildNote(shot, action.reason, action.message, now), context)
      warnOf(noted, action.reason, action.message, context)
      return noted
    }
    case 'unclaim': {
      const runner = shot.status?.runner
      const waiting = await write(shot, buildUnclaim(shot, action, now), context)
      if (runner) noteRunner(runner.uid, action.blamesRunner ?? false, context)
      if (runner && action.lost) noteCrash(shot, runner.uid, context)
      if (action.lost) context.captureWatcher.giveUp(key)
      context.dispatchTracker.forget(key)
      context.metrics.onUnclaim(action.reason)
      warnOf(waiting, action.reason, action.message, context)
      return waiting
    }
    case 'fail': {
      const failed = await write(shot, buildFailure(shot, action, now), context)
      context.log.warn({ key, uid: shot.metadata.uid, attempt: attemptsOf(shot), code: action.code }, 'capture failed')
      if (action.code === 'PAGE_CRASHED' && shot.status?.runner) noteCrash(shot, shot.status.runner.uid, context)
      return failed
    }
    case 'cancel':
      await cancel(shot, context)
      return shot
    case 'deletePod':
      if (shot.status?.runner) noteCrash(shot, shot.status.runner.uid, context)
      await deletePod(shot, action.force, context)
      return shot
  }
}

/** Writes the status once. A conflict or a deleted Screenshot ends the reconcile with an error, and the object is reconciled again. */
async function write(shot: Screenshot, status: StatusPatch, { screenshots, reflectors }: ScreenshotContext): Promise<Screenshot> {
  const { name, resourceVersion } = shot.metadata
  try {
    const written = await screenshots.patch(name, mergePatch({ status }, { resourceVersion }), { subresource: 'status' })
    reflectors.screenshots.observe(written)
    return written
  } catch (error) {
    // The watch will report the deletion, and its runner is released then.
    if (isNotFound(error)) throw new RetryableError('the Screenshot was deleted', { cause: error })
    throw error
  }
}

/** Records how a runner whose claim ended did: at fault, or as usable as before. */
function noteRunner(uid: string, isAtFault: boolean, { runners, now }: ScreenshotContext): void {
  if (isAtFault) runners.noteLoss(uid, now().getTime())
  else runners.noteEnded(uid, now().getTime())
}

/** Counts a runner that a capture of the account crashed, unless another account’s capture may have crashed it. */
function noteCrash(
  shot: Screenshot,
  podUid: string,
  { crashBudget, runners, reflectors, events, log, metrics, namespace, now }: ScreenshotContext,
): void {
  if (!isAlone(shot) && runners.wasShared(podUid)) return
  const account = accountOf(shot)
  if (crashBudget.note(account, podUid, now().getTime()) !== 'heldBack') return
  const message = `Captures of this account crashed ${MAX_CRASHES} runners in a short time. Until this stops, one capture starts every ${CRASH_RECOVERY_SECONDS} s.`
  log.warn({ accountName: account }, 'account limited: its captures crashed too many runners')
  metrics.onHeldBack()
  const object = reflectors.accounts.lister.get(`${namespace}/${account}`)
  if (object) events.warn({ ...object, apiVersion: API_VERSION, kind: 'Account' }, 'HeldBack', message)
}

function queue(key: string, shot: Screenshot, { dispatcher, poolOf }: ScreenshotContext): void {
  const order = createdAtOf(screenshotIdOf(shot.metadata)).getTime()
  dispatcher.add(poolOf(shot), { key, account: accountOf(shot), order, units: unitsOf(shot.spec) })
}

function release(key: string, shot: Screenshot | undefined, { dispatcher, dispatchTracker, cache, runners, now }: ScreenshotContext): void {
  const runner = shot?.status?.runner
  if (runner && dispatchTracker.find(key, { attempt: attemptsOf(shot), podUid: runner.uid })) runners.noteEnded(runner.uid, now().getTime())
  dispatchTracker.forget(key)
  cache.forget(key)
  dispatcher.drop(key)
}

/** Sends the order. Unusable options are an error of the Screenshot, so no other attempt is made. */
async function sendOrder(key: string, shot: Screenshot, context: ScreenshotContext): Promise<Action[]> {
  try {
    return decideAfterDispatch(shot, await dispatch(key, shot, context))
  } catch (error) {
    if (error instanceof OptionsError) return [{ do: 'fail', code: error.code, message: error.message }]
    throw error
  }
}

async function dispatch(key: string, shot: Screenshot, context: ScreenshotContext): Promise<DispatchOutcome> {
  const { runner } = shot.status ?? {}
  const target = runner && findTarget(runner.uid, runner.pod, context)
  if (!runner || !target) return { outcome: 'unsent' }
  const outcome = await postUntilFree(shot, target, context)
  const id = { attempt: attemptsOf(shot), podUid: runner.uid }
  const response: CaptureResponse = outcome.outcome === 'accepted' ? 'running' : 'silent'
  const delivered = outcome.outcome === 'accepted' || (context.dispatchTracker.find(key, id)?.delivered ?? false)
  context.dispatchTracker.note(key, { ...id, podVersion: target.podVersion, response, delivered, at: context.now().getTime() })
  if (outcome.outcome === 'accepted') {
    context.runners.noteTaken(runner.uid, accountOf(shot))
    context.captureWatcher.watch({ key, uid: shot.metadata.uid, address: target.address, ...id })
  }
  if (outcome.outcome === 'busy') await cancelUnclaimed(outcome.with.uid, target.address, context)
  context.metrics.onDispatch(outcome.outcome)
  return outcome
}

interface Target {
  address: RunnerAddress
  key: EncryptionKey
  podVersion: string | undefined
}

function findTarget(uid: string, pod: string, { runners, namespace, now }: ScreenshotContext): Target | undefined {
  const runner = runners.find(`${namespace}/${pod}`, now().getTime())
  const identity = runners.identityOf(uid)
  if (runner?.uid !== uid || !identity) return undefined
  return { address: addressOf(runner), key: identity.key, podVersion: runner.pod.metadata.resourceVersion }
}

/** Retries while the runner is busy with a finished capture: its report can arrive here before its own call returns. */
async function postUntilFree(shot: Screenshot, { address, key }: Target, context: ScreenshotContext): Promise<DispatchOutcome> {
  const opened = await openOptions(shot, context.optionsSources)
  const baseline = await findBaseline(shot, { ...context, report: context.optionsSources.report })
  const until = performance.now() + BUSY_RETRY_LIMIT_MILLISECONDS
  const post = async (): Promise<DispatchOutcome> => {
    const order = buildOrder(shot, context.storage, { ...opened, baseline, maxFileBytes: context.maxFileBytes, now: context.now() })
    return context.client.post(address, key, order)
  }
  const isFinal = (outcome: DispatchOutcome): boolean =>
    outcome.outcome !== 'busy' || isClaimed(outcome.with.uid, address.uid, context) || performance.now() > until
  return repeat(post, { delayOf: (outcome) => (isFinal(outcome) ? undefined : BUSY_RETRY_MILLISECONDS), wait: sleep })
}

/** Whether a Screenshot in the informer cache has a claim on that pod. */
function isClaimed(uid: string, podUid: string, { reflectors }: ScreenshotContext): boolean {
  return reflectors.screenshots.lister.byIndex(CLAIM_INDEX, podUid).some(({ metadata }) => metadata.uid === uid)
}

/** Cancels a capture without a claim: its Screenshot was deleted or failed while this runner was unreachable. */
async function cancelUnclaimed(uid: string, address: RunnerAddress, context: ScreenshotContext): Promise<void> {
  if (!isClaimed(uid, address.uid, context)) await context.client.cancel(address, uid)
}

async function cancel(shot: Screenshot, { client, runners, namespace, now }: ScreenshotContext): Promise<void> {
  const { pod, uid } = shot.status?.runner ?? {}
  const runner = pod === undefined ? undefined : runners.find(`${namespace}/${pod}`, now().getTime())
  if (runner && runner.uid === uid) await client.cancel(addressOf(runner), shot.metadata.uid)
}

/** Deletes the claimed pod with a short grace period, because its result is no longer needed. */
async function deletePod({ status }: Screenshot, force: boolean, { pods, expectations, now }: ScreenshotContext): Promise<void> {
  const { pod, uid } = status?.runner ?? {}
  if (pod === undefined || uid === undefined) return
  expectations.expectDeletion(uid, now().getTime())
  try {
    await pods.delete(pod, { uid, gracePeriodSeconds: force ? 0 : 1 })
  } catch (error) {
    // The pod does not exist, or another pod has its name: nothing to delete.
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

function warnOf(shot: Screenshot, reason: ScreenshotReason, message: string, { events }: ScreenshotContext): void {
  if (SCREENSHOT_REASONS[reason].event) events.warn({ ...shot, apiVersion: API_VERSION, kind: 'Screenshot' }, reason, message)
}
