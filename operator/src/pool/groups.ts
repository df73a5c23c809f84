import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { unchangedSince, unschedulableReason } from '../runner/pod-state.ts'
import { limitsOf } from '../runner/pool-limits.ts'
import { hasRequiredSandbox, isDedicated, isNearCaptureLimit, isSpent, type Runner } from '../runner/runners.ts'

// A pool's pods by what they can do. Pure.

/** One that could capture and cannot any more has this long. */
export const UNREADY_GRACE_MILLISECONDS = 60_000
/** A pod that goes is counted against maxPods until this long after its grace period: a lost node must not hold a place for ever. */
const TERMINATION_MARGIN_MILLISECONDS = 30_000

/** Each live pod is in exactly one of the groups. */
export interface Groups {
  busy: Runner[]
  /** Can be given a capture of any account. */
  idle: Runner[]
  /** Without a sandbox, and another account's from now on. */
  dedicated: Runner[]
  starting: Runner[]
  /** Made from another template, or nearly at the end of their captures: they work until their successors do. */
  stale: Runner[]
  spent: Runner[]
  stuck: Runner[]
  terminating: Runner[]
  ended: Runner[]
}

/** What tells the groups apart. */
export interface Grouped {
  runners: readonly Runner[]
  pool: RunnerPool | undefined
  templateHash: string
}

/** Sorts a pool's pods. */
export function group({ runners, pool, templateHash }: Grouped, now: number): Groups {
  const groups: Groups = { busy: [], idle: [], dedicated: [], starting: [], stale: [], spent: [], stuck: [], terminating: [], ended: [] }
  for (const runner of runners) groups[groupOf(runner, pool, templateHash, now)].push(runner)
  return groups
}

function groupOf(runner: Runner, pool: RunnerPool | undefined, templateHash: string, now: number): keyof Groups {
  const spec = pool?.spec ?? {}
  if (runner.state === 'ended' || runner.state === 'terminating') return runner.state
  if (runner.workingOn !== undefined) return 'busy'
  if (isSpent(runner, spec)) return 'spent'
  if (isStuck(runner, limitsOf(pool?.spec).readinessGraceMilliseconds, now)) return 'stuck'
  if (runner.templateHash !== templateHash || isNearCaptureLimit(runner, spec)) return 'stale'
  if (runner.state === 'waiting' || runner.sandbox === undefined || !hasRequiredSandbox(runner, spec)) return 'starting'
  return isDedicated(runner) ? 'dedicated' : 'idle'
}

/** Not able to capture for too long. One that no node takes is not helped by another. */
function isStuck({ state, sandbox, pod }: Runner, readinessGraceMilliseconds: number, now: number): boolean {
  if (state === 'ready' && sandbox !== undefined) return false
  const grace = sandbox === undefined ? readinessGraceMilliseconds : UNREADY_GRACE_MILLISECONDS
  return now - unchangedSince(pod) > grace && unschedulableReason(pod) === undefined
}

/** Pods that count towards those wanted: they capture, can, or will soon. */
export const countable = ({ busy, idle, starting }: Groups): number => busy.length + idle.length + starting.length

/** How many pods more the pool may have now; those count too that were created and are not to be seen yet. */
export function roomIn(groups: Groups, { runners, pool, unseen }: Grouped & { unseen: number }, now: Date): number {
  const goneSoon = groups.ended.length + groups.terminating.filter((runner) => isOverdue(runner, now)).length
  return Math.max(0, limitsOf(pool?.spec).maxPods - (runners.length - goneSoon) - unseen)
}

function isOverdue({ pod }: Runner, now: Date): boolean {
  const { deletionTimestamp } = pod.metadata
  return deletionTimestamp !== undefined && now.getTime() - Date.parse(deletionTimestamp) > TERMINATION_MARGIN_MILLISECONDS
}
