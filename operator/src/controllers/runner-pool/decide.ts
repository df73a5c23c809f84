/**
 * Decides the next actions for one RunnerPool. Pure. It never deletes a pod that is capturing, whatever its age, its template or the size
 * of the pool. The Screenshot controller ends such pods if necessary.
 */

import type { PoolReason } from '../../kube/condition-reasons.ts'
import { limitsOf } from '../../runner/pod.ts'
import { endOf, lastLogLineOf, unschedulableReason, waitingReason } from '../../runner/pod-state.ts'
import type { Runner } from '../../runner/runners.ts'
import {
  countable,
  type Groups,
  type GrowthAction,
  type GrowthMemory,
  type GrowthObserved,
  group,
  grow,
  roomIn,
} from '../../scheduling/growth.ts'
import { wantedPods } from '../../scheduling/size.ts'
import type { GuardDecision } from '../guard/controller.ts'

/** Interval of a periodic reconcile, in case an event was missed. */
const RESYNC_MILLISECONDS = 30_000
/** Share of maxPods that a new template may replace before one of its pods is ready. */
const UNAVAILABLE_SHARE = 0.25

export function decide(observed: PoolObserved, now: Date): PoolAction[] {
  const { pool } = observed
  // Kubernetes deletes the pods together with the pool.
  if (!pool || pool.metadata.deletionTimestamp) return []
  const groups = group(observed, now.getTime())
  const wanted = wantedPods(pool.spec, loadOf(observed, groups))
  const have = countable(groups) + observed.unseen
  return [
    ...removeEnded(groups),
    ...retire(groups, observed, { wanted, have }, now),
    ...shrink(groups, observed, wanted - have, now),
    ...grow(groups, observed, wanted - have, now),
    ...awaitBackoff(groups, observed, now),
    { do: 'requeue', afterMilliseconds: RESYNC_MILLISECONDS },
  ]
}

/** The end of a runner’s backoff causes no watch event, so schedule a reconcile if Screenshots are queued. */
function awaitBackoff({ idle, dedicated, stale }: Groups, { queued }: PoolObserved, now: Date): PoolAction[] {
  const waits = [...idle, ...dedicated, ...stale].map(({ backoffUntil }) => backoffUntil - now.getTime()).filter((left) => left > 0)
  return queued > 0 && waits.length > 0 ? [{ do: 'requeue', afterMilliseconds: Math.min(...waits) }] : []
}

export const heldBackIn = ({ heldBack }: PoolObserved): number => [...heldBack.values()].reduce((sum, count) => sum + count, 0)

/** The load from which the size of the pool is computed. */
export const loadOf = (observed: PoolObserved, { busy }: Groups) => ({
  busy: busy.length,
  queued: Math.max(0, observed.queued - heldBackIn(observed)),
  meanCaptureMilliseconds: observed.meanCaptureMilliseconds,
})

function removeEnded({ ended }: Groups): PoolAction[] {
  return ended.flatMap((runner): PoolAction[] => {
    const remove = { do: 'delete', runner, reason: 'ended' } as const
    const isFailedStart = runner.sandbox === undefined && runner.pod.metadata.deletionTimestamp === undefined
    if (!isFailedStart) return [remove]
    const text = [endOf(runner.pod)?.text, lastLogLineOf(runner.pod)].filter(Boolean).join(': ')
    return [{ do: 'noteFailedStart', runner, text: `a runner exited before it was ready: ${text}` }, remove]
  })
}

/** Deletes idle pods that will not be used again: unusable ones at once, outdated ones when their successors are ready. */
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

/** It has never been ready, so deleting it costs no capacity. */
const neverStarted = ({ state, sandbox }: Runner): boolean => state === 'waiting' && sandbox === undefined

/** A stuck pod that never identified itself counts as a failed start, which slows down the creation of its successors. */
function noteStuck(runner: Runner, { pool }: PoolObserved): PoolAction[] {
  if (runner.sandbox !== undefined) return []
  const seconds = limitsOf(pool?.spec).readinessGraceMilliseconds / 1_000
  return [
    {
      do: 'noteFailedStart',
      runner,
      text: `a runner was not ready after ${seconds} s. Run kubectl logs and kubectl describe for one of the pods`,
    },
  ]
}

/**
 * Number of working pods that may be replaced by pods that have not become ready yet. A template that never becomes ready must reduce a
 * full pool only in part.
 */
function placesForSuccessors({ starting, terminating }: Groups, { pool, unseen, memory }: PoolObserved, room: number): number {
  if (memory.failedStarts > 0) return 0
  const places = Math.max(1, Math.floor(limitsOf(pool?.spec).maxPods * UNAVAILABLE_SHARE))
  return Math.max(0, places - starting.length - terminating.length - unseen - room)
}

/**
 * Deletes pods after a surplus has lasted long enough: first starting pods that may never become ready, then other starting pods, then
 * those that have been idle longest.
 */
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
  const rankOf = ({ pod }: Runner) => (unschedulableReason(pod) !== undefined || waitingReason(pod) !== undefined ? 0 : 1)
  const notReady = starting.toSorted((a, b) => rankOf(a) - rankOf(b))
  const oldest = idle.toSorted((a, b) => a.idleSince - b.idleSince)
  return [...notReady, ...oldest].slice(0, -missing).map((runner) => ({ do: 'delete', runner, reason: 'surplus' }))
}

// State and actions of a pool.

/** Why runners do not become ready, and what to do. */
export interface Problem {
  reason: Extract<PoolReason, 'Unschedulable' | 'ImagePullFailed' | 'RunnersFailing' | 'PodsRefused'>
  message: string
}

/** State of a pool that the leader keeps in memory between reconciles. */
export interface PoolMemory extends GrowthMemory {
  /** Since when there have been more pods than desired; epoch milliseconds. */
  surplusSince: number | undefined
  lastFailure: Problem | undefined
  /** Template of the failed starts: a corrected template is tried at once. */
  templateHash: string
  statusWrittenAt: number
}

export interface PoolObserved extends GrowthObserved {
  runners: Runner[]
  /** Number of queued Screenshots of each account that is at its limit. More runners would not help them. */
  heldBack: ReadonlyMap<string, number>
  /** Accounts with queued Screenshots. */
  accountsWaiting: readonly string[]
  guard: GuardDecision
  memory: PoolMemory
}

type DeleteReason = 'ended' | 'spent' | 'stale' | 'stuck' | 'surplus' | 'dedicated'

export type PoolAction =
  | GrowthAction
  | { do: 'delete'; runner: Runner; reason: DeleteReason }
  | { do: 'noteSurplus'; since: number | undefined }
  | { do: 'noteFailedStart'; runner: Runner; text: string }
