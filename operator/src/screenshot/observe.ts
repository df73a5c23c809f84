import type { Pod } from '@tintype/crds/client/core-resources'
import { isFinished, type RunnerClaim, Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/record'
import { readObject } from '../read-object.ts'
import { endOf } from '../runner/pod-end.ts'
import { podState, unchangedSince } from '../runner/pod-state.ts'
import type { Told } from '../runner/runner-client.ts'
import { mustBeCharged } from './charge.ts'
import type { ScreenshotContext } from './context.ts'
import { type Observed, type ObservedClaim, POLL_MILLISECONDS } from './decide.ts'
import { attemptsOf } from './status.ts'

/** Reads what decide needs: the local copies, and, of a claim, the runner itself unless it was just heard of. */
export async function observe(key: string, context: ScreenshotContext): Promise<Observed> {
  const { reflectors, dispatcher, namespace, poolOf } = context
  const object = reflectors.screenshots.lister.get(key)
  // Of what has ended there is nothing to decide.
  if (!object || isFinished(object)) return { shot: object, canRun: false, reserved: undefined, claim: undefined }
  const shot = readObject('Screenshot', Screenshot, object)
  const hasPool = reflectors.pools.lister.has(`${namespace}/${poolOf(shot)}`)
  const hasPayer = !mustBeCharged(shot, context) || reflectors.accounts.lister.has(`${namespace}/${accountOf(shot)}`)
  const reserved = dispatcher.reservationOf(key)
  const { status } = shot
  return {
    shot,
    canRun: hasPool && hasPayer,
    reserved: reserved && { pod: reserved.name, uid: reserved.uid },
    cached: await context.cache.find(key, shot),
    claim: status?.phase === 'Running' && status.runner ? await observeClaim(key, shot, status.runner, context) : undefined,
  }
}

async function observeClaim(key: string, shot: Screenshot, runner: RunnerClaim, context: ScreenshotContext): Promise<ObservedClaim> {
  const pod = await findPod(runner, context)
  const state = pod && podState(pod)
  const id = { attempt: attemptsOf(shot), podUid: runner.uid }
  const known = context.dispatches.find(key, id)
  const fate = {
    isOwn: context.dispatches.hasClaimed(key, id),
    pod: state === undefined ? 'gone' : state === 'leaving' || state === 'ended' ? state : 'up',
    end: pod ? endOf(pod) : context.runners.endOf(runner.uid),
    unreadySince: pod && state === 'waiting' ? new Date(unchangedSince(pod)) : undefined,
    leavesBy: pod?.metadata.deletionTimestamp === undefined ? undefined : new Date(pod.metadata.deletionTimestamp),
  } as const
  if (!pod || state === 'ended') return { ...fate, answer: 'silent', delivered: known?.delivered ?? false }
  return { ...fate, ...(await ask(key, shot, pod, context)) }
}

/** The claimed pod. One that the copy does not have is asked for: the copy of a new leader may be older than the claim. */
async function findPod({ pod: name, uid }: RunnerClaim, { reflectors, pods, namespace }: ScreenshotContext): Promise<Pod | undefined> {
  const copy = reflectors.pods.lister.get(`${namespace}/${name}`)
  if (copy?.metadata.uid === uid) return copy
  const pod = await pods.find(name)
  return pod?.metadata.uid === uid ? pod : undefined
}

/** What the runner says of the capture: what it said last, if that is young, nothing new is known, and its pod has not changed since. */
async function ask(
  key: string,
  shot: Screenshot,
  pod: Pod,
  context: ScreenshotContext,
): Promise<Pick<ObservedClaim, 'answer' | 'delivered' | 'givenUp'>> {
  const { dispatches, client } = context
  const id = { attempt: attemptsOf(shot), podUid: pod.metadata.uid ?? '' }
  const known = dispatches.find(key, id)
  const podVersion = pod.metadata.resourceVersion
  if (known && known.podVersion === podVersion && context.now().getTime() - known.at < POLL_MILLISECONDS / 2) return known
  const address = { uid: id.podUid, ip: pod.status?.podIP ?? '' }
  const told: Told = address.ip === '' ? { answer: 'silent' } : await client.ask(address, shot.metadata.uid, id.attempt)
  const { answer, givenUp } = told
  if (answer === 'running') context.follower.follow({ key, uid: shot.metadata.uid, address, ...id })
  // An order that was known once was delivered, whoever sent it.
  const delivered = (known?.delivered ?? false) || (answer !== 'absent' && answer !== 'silent')
  const heard = { ...id, podVersion, answer, givenUp, delivered, at: context.now().getTime() }
  dispatches.note(key, heard)
  return heard
}
