/**
 * What should happen to one RunnerPool next. Pure. Work is never killed here: a pod that captures is left alone whatever its age, template
 * or the pool's size; the reconcile of its Screenshot ends it if it must end.
 */

import { endOf, lastLogLineOf } from '../runner/pod-end.ts'
import { unschedulableReason, waitingReason } from '../runner/pod-state.ts'
import { limitsOf } from '../runner/pool-limits.ts'
import type { Runner } from '../runner/runners.ts'
import { countable, type Groups, group, roomIn } from './groups.ts'
import { grow } from './growth.ts'
import { wantedPods } from './size.ts'
import type { DeleteReason, PoolAction, PoolObserved } from './state.ts'

/** A look that nothing has asked for, in case something was missed. */
const RESYNC_MILLISECONDS = 30_000
/** Part of maxPods that a new template may take the place of before one of its pods works. */
const UNAVAILABLE_SHARE = 0.25

export function decide(observed: PoolObserved, now: Date): PoolAction[] {
  const { pool } = observed
  // Its pods are collected with it.
  if (!pool || pool.metadata.deletionTimestamp) return []
  const groups = group(observed, now.getTime())
  const wanted = wantedPods(pool.spec, loadOf(observed, groups))
  const have = countable(groups) + observed.unseen
  return [
    ...removeEnded(groups),
    ...retire(groups, observed, { wanted, have }, now),
    ...shrink(groups, observed, wanted - have, now),
    ...grow(groups, observed, wanted - have, now),
    ...awaitRest(groups, observed, now),
    { do: 'requeue', afterMilliseconds: RESYNC_MILLISECONDS },
  ]
}

/** A rest that is over has no event of its own, and something may wait for it. */
function awaitRest({ idle, dedicated, stale }: Groups, { queued }: PoolObserved, now: Date): PoolAction[] {
  const rests = [...idle, ...dedicated, ...stale].map(({ restsUntil }) => restsUntil - now.getTime()).filter((left) => left > 0)
  return queued > 0 && rests.length > 0 ? [{ do: 'requeue', afterMilliseconds: Math.min(...rests) }] : []
}

/** What the size of the pool follows from. */
export const loadOf = ({ queued, heldBack, meanCaptureMilliseconds }: PoolObserved, { busy }: Groups) => ({
  busy: busy.length,
  queued: Math.max(0, queued - heldBack),
  meanCaptureMilliseconds,
})

function removeEnded({ ended }: Groups): PoolAction[] {
  return ended.flatMap((runner): PoolAction[] => {
    const remove = { do: 'delete', runner, reason: 'ended' } as const
    const isFailedStart = runner.sandbox === undefined && runner.pod.metadata.deletionTimestamp === undefined
    if (!isFailedStart) return [remove]
    const text = [endOf(runner.pod)?.text ?? 'ended', lastLogLineOf(runner.pod)].filter(Boolean).join(': ')
    return [{ do: 'noteFailedStart', runner, text: `a runner ended before it was ready: ${text}` }, remove]
  })
}

/** Idle pods that will not be used again, or should not: the useless ones at once, the old ones when their successors are up. */
function retire(groups: Groups, observed: PoolObserved, { wanted, have }: { wanted: number; have: number }, now: Date): PoolAction[] {
  const remove = (reason: DeleteReason) => (runner: Runner) => ({ do: 'delete', runner, reason }) as const
  const { minIdle, scaleDownDelayMilliseconds } = limitsOf(observed.pool?.spec)
  const room = roomIn(groups, observed, now)
  const lacking = Math.max(0, wanted - have - room)
  const [never, working] = [groups.stale.filter(neverStarted), groups.stale.filter((runner) => !neverStarted(runner))]
  const places = groups.idle.length >= minIdle ? working.length : Math.min(lacking, placesForSuccessors(groups, observed, room))
  const replaced = [...never, ...working.slice(0, places)]
  const idleTooLong = ({ idleSince }: Runner) => now.getTime() - idleSince > scaleDownDelayMilliseconds
  const unwanted = groups.dedicated.filter(({ accountName = '' }) => !observed.accountsWaiting.includes(accountName))
  const dedicated = unwanted.filter((runner, place) => place < lacking - replaced.length || idleTooLong(runner))
  return [
    ...groups.spent.map(remove('spent')),
    ...groups.stuck.flatMap((runner) => [...noteStuck(runner, observed), remove('stuck')(runner)]),
    ...replaced.map(remove('stale')),
    ...dedicated.map(remove('dedicated')),
  ]
}

/** It has never worked: nobody misses it. */
const neverStarted = ({ state, sandbox }: Runner): boolean => state === 'waiting' && sandbox === undefined

/** One that has never proved who it is has failed to start: its successors come slower and slower. */
function noteStuck(runner: Runner, { pool }: PoolObserved): PoolAction[] {
  if (runner.sandbox !== undefined) return []
  const seconds = limitsOf(pool?.spec).readinessGraceMilliseconds / 1_000
  return [{ do: 'noteFailedStart', runner, text: `a runner was not ready after ${seconds} s: see kubectl logs and describe of such a pod` }]
}

/**
 * How many working pods may go to make room for others that have not shown that they can work: a template that never becomes ready must cost a
 * part of a full pool, not the pool.
 */
function placesForSuccessors({ starting, terminating }: Groups, { pool, unseen, memory }: PoolObserved, room: number): number {
  if (memory.failedStarts > 0) return 0
  const places = Math.max(1, Math.floor(limitsOf(pool?.spec).maxPods * UNAVAILABLE_SHARE))
  return Math.max(0, places - starting.length - terminating.length - unseen - room)
}

/** Too many for long enough: first those go that may never work, then those that do not yet, then those that have been idle longest. */
function shrink({ idle, starting }: Groups, { pool, memory }: PoolObserved, missing: number, now: Date): PoolAction[] {
  if (missing >= 0 || idle.length + starting.length === 0)
    return memory.surplusSince === undefined ? [] : [{ do: 'noteSurplus', since: undefined }]
  const since = memory.surplusSince ?? now.getTime()
  const left = since + limitsOf(pool?.spec).scaleDownDelayMilliseconds - now.getTime()
  if (left > 0)
    return [
      { do: 'noteSurplus', since },
      { do: 'requeue', afterMilliseconds: left },
    ]
  const hopeless = ({ pod }: Runner) => (unschedulableReason(pod) !== undefined || waitingReason(pod) !== undefined ? 0 : 1)
  const useless = starting.toSorted((a, b) => hopeless(a) - hopeless(b))
  const oldest = idle.toSorted((a, b) => a.idleSince - b.idleSince)
  return [...useless, ...oldest].slice(0, -missing).map((runner) => ({ do: 'delete', runner, reason: 'surplus' }))
}
