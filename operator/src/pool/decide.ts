/**
 * What should happen to one RunnerPool next. Pure. Work is never killed here: a pod that captures is left alone whatever its age, template
 * or the pool's size; the reconcile of its Screenshot ends it if it must end.
 */
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { GuardVerdict } from '../guard/verdict.ts'
import { endOf, unchangedSince, unschedulableReason, waitingReason } from './pod-state.ts'
import { isDedicated, isFencedEnough, isSpent, isWorn, type Runner } from './runners.ts'
import { limitsOf, wantedPods } from './size.ts'

/** What one leader remembers of a pool between two looks. */
export interface PoolMemory {
  /** Since when there have been more pods than wanted; epoch milliseconds. */
  surplusSince: number | undefined
  /** Since when spares have been missing only because pods are busy; epoch milliseconds. */
  lackSince: number | undefined
  /** Pods in a row that ended before they could capture. */
  failedStarts: number
  lastFailureAt: number
  lastFailure: string
  statusWrittenAt: number
}

export interface PoolObserved {
  pool: RunnerPool | undefined
  runners: Runner[]
  /** Pods that were created and are not to be seen yet. */
  unseen: number
  nextOrdinal: number
  templateHash: string
  queued: number
  /** Accounts that have something waiting. */
  accountsWaiting: readonly string[]
  meanCaptureMilliseconds: number
  guard: GuardVerdict
  memory: PoolMemory
}

export type DeleteReason = 'ended' | 'spent' | 'stale' | 'stuck' | 'surplus' | 'dedicated'

export type PoolAction =
  | { do: 'create'; ordinals: number[] }
  | { do: 'delete'; runner: Runner; reason: DeleteReason }
  | { do: 'noteSurplus'; since: number | undefined }
  | { do: 'noteLack'; since: number | undefined }
  | { do: 'noteFailedStart'; runner: Runner; text: string }
  | { do: 'requeue'; afterMilliseconds: number }

/** A pod that was created but cannot capture after this time is replaced. */
export const READINESS_GRACE_MILLISECONDS = 300_000
/** One that could and cannot any more has this long. */
export const UNREADY_GRACE_MILLISECONDS = 60_000
/** A pod that goes is counted against maxPods until this long after its grace period: a lost node must not hold a place for ever. */
const LEAVING_MILLISECONDS = 30_000
const FIRST_BACKOFF_MILLISECONDS = 1_000
const MAX_BACKOFF_MILLISECONDS = 60_000
const MIN_PATIENCE_MILLISECONDS = 1_000
const MAX_PATIENCE_MILLISECONDS = 10_000
/** A look that nothing has asked for, in case something was missed. */
const RESYNC_MILLISECONDS = 30_000

/** The pool's pods by what they can do. Each live one is in exactly one of the groups. */
export interface Groups {
  busy: Runner[]
  /** Can be given a capture of any account. */
  spare: Runner[]
  /** Without a sandbox, and another account's from now on. */
  dedicated: Runner[]
  starting: Runner[]
  /** Made from another template, or nearly at the end of their captures: they work until their successors do. */
  stale: Runner[]
  spent: Runner[]
  stuck: Runner[]
  leaving: Runner[]
  ended: Runner[]
}

/** Sorts a pool's pods. */
export function group({ runners, pool, templateHash }: Pick<PoolObserved, 'runners' | 'pool' | 'templateHash'>, now: number): Groups {
  const groups: Groups = { busy: [], spare: [], dedicated: [], starting: [], stale: [], spent: [], stuck: [], leaving: [], ended: [] }
  for (const runner of runners) groups[groupOf(runner, pool, templateHash, now)].push(runner)
  return groups
}

function groupOf(runner: Runner, pool: RunnerPool | undefined, templateHash: string, now: number): keyof Groups {
  if (runner.state === 'ended' || runner.state === 'leaving') return runner.state
  if (runner.workingOn !== undefined) return 'busy'
  if (isSpent(runner, pool?.spec ?? {})) return 'spent'
  if (isStuck(runner, now)) return 'stuck'
  if (runner.templateHash !== templateHash || isWorn(runner, pool?.spec ?? {})) return 'stale'
  if (runner.state === 'waiting' || runner.sandbox === undefined || !isFencedEnough(runner, pool?.spec ?? {})) return 'starting'
  return isDedicated(runner) ? 'dedicated' : 'spare'
}

/** Not able to capture for too long. One that no node takes is not helped by another. */
function isStuck({ state, sandbox, pod }: Runner, now: number): boolean {
  if (state === 'ready' && sandbox !== undefined) return false
  const grace = sandbox === undefined ? READINESS_GRACE_MILLISECONDS : UNREADY_GRACE_MILLISECONDS
  return now - unchangedSince(pod) > grace && unschedulableReason(pod) === undefined
}

/** See the head of this file. */
export function decide(observed: PoolObserved, now: Date): PoolAction[] {
  const { pool } = observed
  // Its pods are collected with it.
  if (!pool || pool.metadata.deletionTimestamp) return []
  const groups = group(observed, now.getTime())
  const wanted = wantedPods(pool.spec, { ...observed, busy: groups.busy.length })
  const have = groups.busy.length + groups.spare.length + groups.starting.length + observed.unseen
  return [
    ...removeEnded(groups),
    ...retire(groups, observed, { wanted, have }, now),
    ...shrink(groups, observed, wanted - have, now),
    ...grow(groups, observed, wanted - have, now),
    { do: 'requeue', afterMilliseconds: RESYNC_MILLISECONDS },
  ]
}

function removeEnded({ ended }: Groups): PoolAction[] {
  return ended.flatMap((runner): PoolAction[] => {
    const remove = { do: 'delete', runner, reason: 'ended' } as const
    const isFailedStart = runner.sandbox === undefined && runner.pod.metadata.deletionTimestamp === undefined
    return isFailedStart ? [{ do: 'noteFailedStart', runner, text: endOf(runner.pod)?.text ?? 'ended' }, remove] : [remove]
  })
}

/** Idle pods that will not be used again, or should not: the useless ones at once, the old ones when their successors are up. */
function retire(groups: Groups, observed: PoolObserved, { wanted, have }: { wanted: number; have: number }, now: Date): PoolAction[] {
  const remove = (reason: DeleteReason) => (runner: Runner) => ({ do: 'delete', runner, reason }) as const
  const { minIdle, scaleDownDelayMilliseconds } = limitsOf(observed.pool?.spec)
  const lacking = Math.max(0, wanted - have - room(groups, observed, now))
  const replaced = groups.spare.length >= minIdle ? groups.stale : groups.stale.slice(0, lacking)
  const idleTooLong = ({ idleSince }: Runner) => now.getTime() - idleSince > scaleDownDelayMilliseconds
  const unwanted = groups.dedicated.filter(({ accountName = '' }) => !observed.accountsWaiting.includes(accountName))
  const dedicated = unwanted.filter((runner, place) => place < lacking - replaced.length || idleTooLong(runner))
  return [
    ...groups.spent.map(remove('spent')),
    ...groups.stuck.map(remove('stuck')),
    ...replaced.map(remove('stale')),
    ...dedicated.map(remove('dedicated')),
  ]
}

/** Too many for long enough: those go that have been idle longest. */
function shrink({ spare }: Groups, { pool, memory }: PoolObserved, missing: number, now: Date): PoolAction[] {
  if (missing >= 0 || spare.length === 0) return memory.surplusSince === undefined ? [] : [{ do: 'noteSurplus', since: undefined }]
  const since = memory.surplusSince ?? now.getTime()
  const left = since + limitsOf(pool?.spec).scaleDownDelayMilliseconds - now.getTime()
  if (left > 0)
    return [
      { do: 'noteSurplus', since },
      { do: 'requeue', afterMilliseconds: left },
    ]
  const oldest = spare.toSorted((a, b) => a.idleSince - b.idleSince).slice(0, -missing)
  return oldest.map((runner) => ({ do: 'delete', runner, reason: 'surplus' }))
}

/** Too few: more are created, as far as there is room, and slower each time that one has failed to start. */
function grow(groups: Groups, observed: PoolObserved, missing: number, now: Date): PoolAction[] {
  const { memory, nextOrdinal } = observed
  const calm: PoolAction[] = memory.lackSince === undefined ? [] : [{ do: 'noteLack', since: undefined }]
  const count = Math.min(missing, room(groups, observed, now))
  if (count <= 0) return calm
  const left = memory.lastFailureAt + backoffMilliseconds(memory.failedStarts) - now.getTime()
  if (left > 0) return [{ do: 'requeue', afterMilliseconds: left }]
  const patience = patienceLeft(groups, observed, missing, now)
  if (patience > 0)
    return [
      { do: 'noteLack', since: memory.lackSince ?? now.getTime() },
      { do: 'requeue', afterMilliseconds: patience },
    ]
  return [...calm, { do: 'create', ordinals: Array.from({ length: count }, (_, place) => nextOrdinal + place) }]
}

/**
 * Milliseconds for which missing spares are borne. While nothing waits, pods that are busy will be the spares again, and mostly sooner than a
 * new pod could be: without this each single capture would cost a pod.
 */
function patienceLeft(
  { busy }: Groups,
  { pool, queued, memory, templateHash: wanted, meanCaptureMilliseconds }: PoolObserved,
  missing: number,
  now: Date,
): number {
  const returning = busy.filter((runner) => !isWorn(runner, pool?.spec ?? {}) && runner.templateHash === wanted).length
  if (queued > 0 || returning < missing) return 0
  const patience = Math.min(MAX_PATIENCE_MILLISECONDS, Math.max(MIN_PATIENCE_MILLISECONDS, 2 * meanCaptureMilliseconds))
  return (memory.lackSince ?? now.getTime()) + patience - now.getTime()
}

/** How many pods more the pool may have now. */
function room(groups: Groups, { pool, runners, unseen }: PoolObserved, now: Date): number {
  const goneSoon = groups.ended.length + groups.leaving.filter((runner) => isOverdue(runner, now)).length
  return Math.max(0, limitsOf(pool?.spec).maxPods - (runners.length - goneSoon) - unseen)
}

function isOverdue({ pod }: Runner, now: Date): boolean {
  const { deletionTimestamp } = pod.metadata
  return deletionTimestamp !== undefined && now.getTime() - Date.parse(deletionTimestamp) > LEAVING_MILLISECONDS
}

const backoffMilliseconds = (failedStarts: number): number =>
  failedStarts === 0 ? 0 : Math.min(MAX_BACKOFF_MILLISECONDS, FIRST_BACKOFF_MILLISECONDS * 2 ** (failedStarts - 1))

/** Why runners do not come up, in the cluster's own words; undefined when nothing is known to be wrong. */
export function findTrouble(
  { starting }: Groups,
  memory: PoolMemory,
): { reason: 'Unschedulable' | 'RunnersFailing'; message: string } | undefined {
  for (const { pod } of starting) {
    const unschedulable = unschedulableReason(pod)
    if (unschedulable !== undefined) return { reason: 'Unschedulable', message: unschedulable }
    const waiting = waitingReason(pod)
    if (waiting !== undefined) return { reason: 'RunnersFailing', message: waiting }
  }
  return memory.failedStarts > 0 ? { reason: 'RunnersFailing', message: memory.lastFailure } : undefined
}
