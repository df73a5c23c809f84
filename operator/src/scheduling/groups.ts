import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { unchangedSince, unschedulableReason } from '../runner/pod-state.ts'
import { limitsOf } from '../runner/pool-limits.ts'
import { isDedicated, isNearCaptureLimit, isSpent, meetsSpec, type Runner } from '../runner/runners.ts'

// Groups the pods of a pool by what they can do. Pure.

/** Grace period of a pod that could capture before and is not ready now. */
export const UNREADY_GRACE_MILLISECONDS = 60_000
/** A terminating pod counts against maxPods until this long after its grace period, because the pods of a lost node never finish. */
const TERMINATION_MARGIN_MILLISECONDS = 30_000

/** Each live pod is in exactly one group. */
export interface Groups {
  busy: Runner[]
  /** Can capture for any account. */
  idle: Runner[]
  /** Without a sandbox and already used by an account: it may capture only for that account. */
  dedicated: Runner[]
  starting: Runner[]
  /** From an outdated template, or close to their capture limit. They keep working until their successors are ready. */
  stale: Runner[]
  spent: Runner[]
  stuck: Runner[]
  terminating: Runner[]
  ended: Runner[]
}

/** The state that determines the groups. */
export interface Grouped {
  runners: readonly Runner[]
  pool: RunnerPool | undefined
  templateHash: string
}

/** Assigns each pod of a pool to its group. */
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
  if (runner.state === 'waiting' || runner.sandbox === undefined || !meetsSpec(runner, spec)) return 'starting'
  return isDedicated(runner) ? 'dedicated' : 'idle'
}

/** True when the pod has been unable to capture for too long. Unschedulable pods are excluded: a replacement would be unschedulable too. */
function isStuck({ state, sandbox, pod }: Runner, readinessGraceMilliseconds: number, now: number): boolean {
  if (state === 'ready' && sandbox !== undefined) return false
  const grace = sandbox === undefined ? readinessGraceMilliseconds : UNREADY_GRACE_MILLISECONDS
  return now - unchangedSince(pod) > grace && unschedulableReason(pod) === undefined
}

/** Pods that count toward the desired number: they are capturing, can capture, or will soon. */
export const countable = ({ busy, idle, starting }: Groups): number => busy.length + idle.length + starting.length

/** Number of pods that the pool may add now. Pods that were created but are not in the cache yet count as existing. */
export function roomIn(groups: Groups, { runners, pool, unseen }: Grouped & { unseen: number }, now: Date): number {
  const goneSoon = groups.ended.length + groups.terminating.filter((runner) => isOverdue(runner, now)).length
  return Math.max(0, limitsOf(pool?.spec).maxPods - (runners.length - goneSoon) - unseen)
}

function isOverdue({ pod }: Runner, now: Date): boolean {
  const { deletionTimestamp } = pod.metadata
  return deletionTimestamp !== undefined && now.getTime() - Date.parse(deletionTimestamp) > TERMINATION_MARGIN_MILLISECONDS
}
