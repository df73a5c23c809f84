import type { Pod } from '@tintype/crds/client/core-resources'
import { type RunnerClaim, Screenshot } from '@tintype/crds/kinds/screenshot'
import { DEFAULT_POOL } from '@tintype/crds/names'
import { TerminalError } from '../controller/errors.ts'
import { endOf, podState } from '../pool/pod-state.ts'
import type { ScreenshotContext } from './context.ts'
import { type Observed, type ObservedClaim, POLL_MILLISECONDS } from './decide.ts'
import { attemptsOf } from './status.ts'

/** Reads what decide needs: the local copies, and, of a claim, the runner itself unless it was just heard of. */
export async function observe(key: string, context: ScreenshotContext): Promise<Observed> {
  const { reflectors, matchmaker, namespace } = context
  const object = reflectors.screenshots.lister.get(key)
  if (!object) return { shot: undefined, poolExists: false, reserved: undefined, claim: undefined }
  const shot = parse(object)
  const reserved = matchmaker.reservationOf(key)
  const { status } = shot
  return {
    shot,
    poolExists: reflectors.pools.lister.has(`${namespace}/${shot.spec.poolName ?? DEFAULT_POOL}`),
    reserved: reserved && { pod: reserved.name, uid: reserved.uid },
    claim: status?.phase === 'Running' && status.runner ? await observeClaim(key, shot, status.runner, context) : undefined,
  }
}

function parse(object: Screenshot): Screenshot {
  const parsed = Screenshot.safeParse(object)
  if (parsed.success) return parsed.data
  throw new TerminalError('InvalidObject', 'the Screenshot does not match its schema', { cause: parsed.error })
}

async function observeClaim(key: string, shot: Screenshot, runner: RunnerClaim, context: ScreenshotContext): Promise<ObservedClaim> {
  const pod = await findPod(runner, context)
  const state = pod && podState(pod)
  const id = { attempt: attemptsOf(shot), podUid: runner.uid }
  const known = context.dispatches.find(key, id)
  const fate = {
    isOwn: context.dispatches.hasClaimed(key, id),
    pod: state === undefined ? 'gone' : state === 'leaving' || state === 'ended' ? state : 'up',
    end: pod && endOf(pod),
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

/** What the runner says of the capture: what it said last, if that is young and its pod has not changed since. */
async function ask(
  key: string,
  shot: Screenshot,
  pod: Pod,
  context: ScreenshotContext,
): Promise<Pick<ObservedClaim, 'answer' | 'delivered'>> {
  const { dispatches, client } = context
  const id = { attempt: attemptsOf(shot), podUid: pod.metadata.uid ?? '' }
  const known = dispatches.find(key, id)
  const podVersion = pod.metadata.resourceVersion
  if (known && known.podVersion === podVersion && context.now().getTime() - known.at < POLL_MILLISECONDS / 2) return known
  const address = { uid: id.podUid, ip: pod.status?.podIP ?? '' }
  const answer = address.ip === '' ? 'silent' : await client.ask(address, shot.metadata.uid, id.attempt)
  // An order that was known once was delivered, whoever sent it.
  const delivered = (known?.delivered ?? false) || (answer !== 'absent' && answer !== 'silent')
  const heard = { ...id, podVersion, answer, delivered, at: context.now().getTime() }
  dispatches.note(key, heard)
  return heard
}
