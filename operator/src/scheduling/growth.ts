import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { doubled } from '@tintype/crds/runtime/retry'
import { limitsOf } from '../runner/pod.ts'
import { unchangedSince, unschedulableReason } from '../runner/pod-state.ts'
import { isDedicated, isNearCaptureLimit, isSpent, meetsSpec, type Runner } from '../runner/runners.ts'

// Decides how fast a pool grows. Pure. A pool with a proven template doubles; a new template is tried with a few pods first.

const FIRST_BACKOFF_MILLISECONDS = 1_000
const MAX_BACKOFF_MILLISECONDS = 60_000
const MIN_SCALE_UP_DELAY_MILLISECONDS = 1_000
const MAX_SCALE_UP_DELAY_MILLISECONDS = 10_000
/** Maximum number of starting pods while no pod of the template has become ready: a broken template then affects only these. */
const FIRST_STARTS = 4
/** Maximum number of starting pods of a large pool: other workloads also need image pulls and scheduling. */
const MAX_STARTS = 100

/** What a pool's leader remembers about its growth between reconciles. */
export interface GrowthMemory {
  /** Since when idle pods have been missing only because pods are busy; epoch milliseconds. */
  lackSince: number | undefined
  /** Number of consecutive pods that ended before they could capture, or that the API server rejected. */
  failedStarts: number
  lastFailureAt: number
}

/** The state of a pool that determines its growth. */
export interface GrowthObserved extends Grouped {
  /** Pods that were created but are not in the cache yet. */
  unseen: number
  nextOrdinal: number
  /** Number of queued Screenshots. */
  queued: number
  meanCaptureMilliseconds: number
  memory: GrowthMemory
}

export type GrowthAction =
  | { do: 'create'; ordinals: number[] }
  | { do: 'noteLack'; since: number | undefined }
  | { do: 'requeue'; afterMilliseconds: number }

/** Creates missing pods within the pool's limit and pace, and with backoff after each failed start. */
export function grow(groups: Groups, observed: GrowthObserved, missing: number, now: Date): GrowthAction[] {
  const { memory, nextOrdinal } = observed
  const resetLack: GrowthAction[] = memory.lackSince === undefined ? [] : [{ do: 'noteLack', since: undefined }]
  const count = Math.min(missing, roomIn(groups, observed, now), pace(groups, observed))
  if (count <= 0) return resetLack
  const left = memory.lastFailureAt + backoffMilliseconds(memory.failedStarts) - now.getTime()
  if (left > 0) return [{ do: 'requeue', afterMilliseconds: left }]
  const delay = scaleUpDelayLeft(groups, observed, missing, now)
  if (delay > 0)
    return [
      { do: 'noteLack', since: memory.lackSince ?? now.getTime() },
      { do: 'requeue', afterMilliseconds: delay },
    ]
  return [...resetLack, { do: 'create', ordinals: Array.from({ length: count }, (_, place) => nextOrdinal + place) }]
}

/** Number of further pods that may start: as many as have proven this template, so that the pool doubles with each round. */
function pace({ starting, busy, idle, dedicated }: Groups, { templateHash, unseen, memory }: GrowthObserved): number {
  const proven = [...busy, ...idle, ...dedicated].filter((runner) => runner.templateHash === templateHash && runner.sandbox).length
  // After a failure, start one pod at a time until one is ready.
  const starts = memory.failedStarts > 0 ? 1 : Math.min(MAX_STARTS, Math.max(FIRST_STARTS, proven))
  return starts - starting.length - unseen
}

/**
 * Milliseconds for which missing idle pods are accepted. While nothing is queued, busy pods usually become idle sooner than a new pod would
 * be ready. Without this delay, each single capture would cost a pod.
 */
function scaleUpDelayLeft(
  { busy }: Groups,
  { pool, queued, memory, templateHash: wanted, meanCaptureMilliseconds }: GrowthObserved,
  missing: number,
  now: Date,
): number {
  const returning = busy.filter((runner) => !isNearCaptureLimit(runner, pool?.spec ?? {}) && runner.templateHash === wanted).length
  if (queued > 0 || returning < missing) return 0
  const delay = Math.min(MAX_SCALE_UP_DELAY_MILLISECONDS, Math.max(MIN_SCALE_UP_DELAY_MILLISECONDS, 2 * meanCaptureMilliseconds))
  return (memory.lackSince ?? now.getTime()) + delay - now.getTime()
}

const backoffMilliseconds = (failedStarts: number): number =>
  failedStarts === 0 ? 0 : doubled(FIRST_BACKOFF_MILLISECONDS, MAX_BACKOFF_MILLISECONDS, failedStarts)

// Groups the pods of a pool by what they can do. Pure.

/** Grace period of a pod that could capture before and is not ready now. */
const UNREADY_GRACE_MILLISECONDS = 60_000
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
interface Grouped {
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
