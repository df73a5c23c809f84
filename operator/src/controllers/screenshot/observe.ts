import type { Pod } from '@tintype/crds/client/kinds'
import { isFinished, type RunnerClaim, Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { readObject } from '../../kube/read-object.ts'
import { endOf } from '../../runner/pod-end.ts'
import { podState, unchangedSince } from '../../runner/pod-state.ts'
import type { RunnerResponse } from '../../runner/runner-client.ts'
import { addressOf } from '../../runner/runners.ts'
import { canRecordIn } from '../../scheduling/account-limits.ts'
import type { AttemptId, LastResponse } from '../../scheduling/dispatch-tracker.ts'
import { isCharged } from '../quota/decide.ts'
import type { ScreenshotContext } from './context.ts'
import { type Observed, type ObservedClaim, POLL_MILLISECONDS } from './decide.ts'
import { attemptsOf, isAlone } from './status.ts'

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
