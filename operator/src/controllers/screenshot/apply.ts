import { toCached } from '@tintype/crds/client/cached-form'
import { isConflict, isInvalid, isNotFound } from '@tintype/crds/client/kube-error'
import { mergePatch } from '@tintype/crds/client/resource'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { unitsOf } from '@tintype/crds/usage/usage'
import { RetryableError } from '../../controller-runtime/controller.ts'
import { SCREENSHOT_REASONS, type ScreenshotReason } from '../../kube/condition-reasons.ts'
import { CRASH_RECOVERY_SECONDS, MAX_CRASHES } from '../../scheduling/crash-budget.ts'
import { chargeFor } from './charge.ts'
import type { ScreenshotContext } from './context.ts'
import { type Action, decideAfterCharge, decideAfterDispatch } from './decide.ts'
import { cancelAtRunner, filesOf, sendOrder } from './dispatch.ts'
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

/** What follows an action. */
interface Step {
  /** The Screenshot as it was written. */
  shot?: Screenshot
  /** Replaces the remaining actions. */
  next?: readonly Action[] | undefined
  requeueAfterMilliseconds?: number
}

type Handler<Name extends Action['do']> = (
  action: Extract<Action, { do: Name }>,
  subject: { key: string; shot: Screenshot },
  context: ScreenshotContext,
) => Promise<Step | undefined> | Step | undefined

/** The page must be captured, because the file or the record cannot be used. The next reconcile decides that. */
const DECIDE_AGAIN: Step = { next: [], requeueAfterMilliseconds: 1 }

/**
 * Executes the actions in order. Each write carries the resourceVersion on which the decision is based. The first failure stops the
 * execution. Returns the delay until the next reconcile.
 */
export async function apply(
  key: string,
  shot: Screenshot | undefined,
  actions: readonly Action[],
  context: ScreenshotContext,
): Promise<number | undefined> {
  if (!shot) return void release(key, undefined, context)
  let subject = { key, shot }
  let requeue: number | undefined
  for (let [action, ...rest] = actions; action; [action, ...rest] = rest) {
    const step = await (handlers[action.do] as Handler<Action['do']>)(action, subject, context)
    if (step?.shot) subject = { key, shot: step.shot }
    if (step?.next) rest = [...step.next]
    requeue = Math.min(requeue ?? Number.POSITIVE_INFINITY, step?.requeueAfterMilliseconds ?? Number.POSITIVE_INFINITY)
  }
  return requeue === Number.POSITIVE_INFINITY ? undefined : requeue
}

const handlers: { [Name in Action['do']]: Handler<Name> } = {
  requeue: ({ afterMilliseconds }) => ({ requeueAfterMilliseconds: afterMilliseconds }),

  release: (_, { key, shot }, context) => release(key, shot, context),

  queue(_, { key, shot }, { dispatcher, poolOf }) {
    const order = createdAtOf(screenshotIdOf(shot.metadata)).getTime()
    dispatcher.add(poolOf(shot), { key, account: accountOf(shot), order, units: unitsOf(shot.spec) })
    return undefined
  },

  async reuse({ entry }, { key, shot }, context) {
    const began = context.now()
    const result = await context.cache.take(key, shot, entry)
    return result ? { shot: await write(shot, buildReuse(shot, result, began, context.now()), context) } : DECIDE_AGAIN
  },

  async restore({ record }, { key, shot }, context) {
    try {
      const restored = await write(shot, buildRestored(shot, record, context.now()), context)
      context.log.info({ key, record: screenshotIdOf(record.metadata) }, 'screenshot restored from its archived record')
      return { shot: restored }
    } catch (error) {
      // The API server refuses the old result.
      if (!isInvalid(error)) throw error
      context.restorer.forbid(shot)
      return DECIDE_AGAIN
    }
  },

  async removeFiles(_, { shot }, { storage }) {
    await storage.removePrefix(filesOf(shot))
    return undefined
  },

  // A Screenshot that cannot be charged gets no runner: the claim does not follow.
  charge: async (_, { shot }, context) => ({ next: decideAfterCharge(shot, await chargeFor(shot, context)) }),

  async claim({ runner, isCharged }, { key, shot }, context) {
    const now = context.now()
    const claimed = await write(shot, buildClaim(shot, runner, now, isCharged), context)
    context.dispatchTracker.noteClaim(key, { attempt: attemptsOf(claimed), podUid: runner.uid })
    context.dispatcher.drop(key)
    if (attemptsOf(claimed) === 1) context.metrics.waitSeconds.observe(secondsSince(shot, now))
    return { shot: claimed }
  },

  dispatch: async (_, { key, shot }, context) => ({ next: decideAfterDispatch(shot, await sendOrder(key, shot, context)) }),

  async note({ reason, message }, { shot }, context) {
    const noted = await write(shot, buildNote(shot, reason, message, context.now()), context)
    warnOf(noted, reason, message, context)
    return { shot: noted }
  },

  async unclaim(action, { key, shot }, context) {
    const { reason, message, lost, blamesRunner } = action
    const waiting = await write(shot, buildUnclaim(shot, action, context.now()), context)
    const { runner } = shot.status ?? {}
    if (runner && blamesRunner) context.runners.noteLoss(runner.uid, context.now().getTime())
    else if (runner) context.runners.noteEnded(runner.uid, context.now().getTime())
    if (lost) {
      noteCrash(shot, context)
      context.captureWatcher.giveUp(key)
    }
    context.dispatchTracker.forget(key)
    context.metrics.unclaims.inc({ reason })
    warnOf(waiting, reason, message, context)
    return { shot: waiting }
  },

  async fail(action, { key, shot }, context) {
    const failed = await write(shot, buildFailure(shot, action, context.now()), context)
    context.log.warn({ key, uid: shot.metadata.uid, attempt: attemptsOf(shot), code: action.code }, 'capture failed')
    if (action.code === 'PAGE_CRASHED') noteCrash(shot, context)
    return { shot: failed }
  },

  async cancel(_, { shot }, context) {
    await cancelAtRunner(shot, context)
    return undefined
  },

  /** Deletes the claimed pod with a short grace period, because its result is no longer needed. */
  async deletePod({ force }, { shot }, context) {
    const { pod, uid } = shot.status?.runner ?? {}
    if (pod === undefined || uid === undefined) return undefined
    noteCrash(shot, context)
    context.expectations.expectDeletion(uid, context.now().getTime())
    try {
      await context.clients.pods.delete(pod, { uid, gracePeriodSeconds: force ? 0 : 1 })
    } catch (error) {
      // The pod does not exist, or another pod has its name: nothing to delete.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
    return undefined
  },
}

/** Seconds since the creation; 0 if another clock created it later. */
const secondsSince = ({ metadata }: Screenshot, now: Date): number =>
  Math.max(0, now.getTime() - createdAtOf(screenshotIdOf(metadata)).getTime()) / 1_000

/** Writes the status once. A conflict or a deleted Screenshot ends the reconcile with an error, and the object is reconciled again. */
async function write(shot: Screenshot, status: StatusPatch, { clients }: ScreenshotContext): Promise<Screenshot> {
  const { name, resourceVersion } = shot.metadata
  try {
    return toCached(await clients.screenshots.patch(name, mergePatch({ status }, { resourceVersion }), { subresource: 'status' }))
  } catch (error) {
    // The watch will report the deletion, and its runner is released then.
    if (isNotFound(error)) throw new RetryableError('the Screenshot was deleted', { cause: error })
    throw error
  }
}

function release(key: string, shot: Screenshot | undefined, { dispatcher, dispatchTracker, cache, runners, now }: ScreenshotContext) {
  const runner = shot?.status?.runner
  if (runner && dispatchTracker.find(key, { attempt: attemptsOf(shot), podUid: runner.uid })) runners.noteEnded(runner.uid, now().getTime())
  dispatchTracker.forget(key)
  cache.forget(key)
  dispatcher.drop(key)
  return undefined
}

/** Counts a runner that a capture of the account crashed, unless another account’s capture may have crashed it. */
function noteCrash(shot: Screenshot, { crashBudget, runners, reflectors, events, log, metrics, config, now }: ScreenshotContext): void {
  const podUid = shot.status?.runner?.uid
  if (podUid === undefined || (!isAlone(shot) && runners.wasShared(podUid))) return
  const account = accountOf(shot)
  if (crashBudget.note(account, podUid, now().getTime()) !== 'heldBack') return
  const message = `Captures of this account crashed ${MAX_CRASHES} runners in a short time. Until this stops, one capture starts every ${CRASH_RECOVERY_SECONDS} s.`
  log.warn({ accountName: account }, 'account limited: its captures crashed too many runners')
  metrics.heldBack.inc()
  const object = reflectors.accounts.lister.get(`${config.namespace}/${account}`)
  if (object) events.warn({ ...object, apiVersion: API_VERSION, kind: 'Account' }, 'HeldBack', message)
}

function warnOf(shot: Screenshot, reason: ScreenshotReason, message: string, { events }: ScreenshotContext): void {
  if (SCREENSHOT_REASONS[reason]) events.warn({ ...shot, apiVersion: API_VERSION, kind: 'Screenshot' }, reason, message)
}
