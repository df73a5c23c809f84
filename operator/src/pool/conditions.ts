import type { SandboxReport } from '@tintype/crds/dispatch/dispatch'
import type { RunnerPool, RunnerPoolSpec, RunnerPoolStatus } from '@tintype/crds/kinds/runner-pool'
import { type Condition, ConditionType, findCondition, setCondition } from '@tintype/crds/schema/conditions'
import type { GuardDecision } from '../guard/decision.ts'
import { POOL_REASONS, type PoolReason } from '../kube/condition-reasons.ts'
import { podSelector } from '../runner/pod.ts'
import { limitsOf } from '../runner/pool-limits.ts'
import { hasRequiredSandbox } from '../runner/runners.ts'
import { loadOf } from './decide.ts'
import { countable, type Groups } from './groups.ts'
import { findProblem } from './problem.ts'
import { demandedPods, wantedPods } from './size.ts'
import type { PoolObserved } from './state.ts'

// The status of a RunnerPool: pure.

type SandboxMode = NonNullable<RunnerPoolSpec['sandbox']>['mode'] | undefined
type Finding = Pick<Condition, 'status' | 'message'> & { reason: PoolReason }

const MAX_MESSAGE = 2_000

/** Builds the status from what is seen; conditions keep their transition times. */
export function buildStatus(observed: PoolObserved & { pool: RunnerPool }, groups: Groups, now: Date): RunnerPoolStatus {
  const { pool, runners, queued, guard, templateHash } = observed
  const findings: Record<string, Finding> = {
    [ConditionType.ready]: findReady(observed, groups),
    [ConditionType.scaled]: findScaled(observed, groups),
    [ConditionType.sandboxed]: findSandboxed(pool.spec, reportsOf(observed)),
    [ConditionType.guarded]: findGuarded(guard),
  }
  const { generation } = pool.metadata
  let conditions = pool.status?.conditions ?? []
  for (const [type, { status, reason, message }] of Object.entries(findings)) {
    const next = { type, status, reason, message: message.slice(0, MAX_MESSAGE) }
    conditions = setCondition(conditions, generation === undefined ? next : { ...next, observedGeneration: generation }, now)
  }
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    replicas: runners.filter(({ state }) => state !== 'ended').length,
    wanted: wantedPods(pool.spec, loadOf(observed, groups)),
    updated: runners.filter((runner) => runner.state !== 'ended' && runner.templateHash === templateHash).length,
    idle: groups.idle.length + groups.dedicated.length + groups.stale.filter(({ state }) => state === 'ready').length,
    busy: groups.busy.length,
    queued,
    selector: podSelector(pool.metadata.name),
    conditions,
  }
}

/** What the pods that can capture say of their sandbox. */
const reportsOf = ({ runners }: PoolObserved): SandboxReport[] =>
  runners.flatMap(({ state, sandbox }) => (state === 'ended' || state === 'terminating' || sandbox === undefined ? [] : [sandbox]))

function findReady(observed: PoolObserved & { pool: RunnerPool }, groups: Groups): Finding {
  const { guard, memory, pool } = observed
  const up = groups.busy.length + groups.idle.length + groups.dedicated.length + groups.stale.length
  if (!guard.guarded) return { status: 'False', reason: 'NotGuarded', message: guard.message }
  if (up > 0) return { status: 'True', reason: 'RunnersReady', message: 'runners are up' }
  if (groups.starting.some((runner) => runner.sandbox !== undefined && !hasRequiredSandbox(runner, pool.spec))) {
    const message = 'spec.sandbox.mode is required and the runners have no sandbox, so nothing is captured: see Sandboxed'
    return { status: 'False', reason: 'SandboxRequired', message }
  }
  const problem = findProblem(groups, memory, pool.spec)
  if (problem) return { status: 'False', ...problem }
  if (wantedPods(pool.spec, loadOf(observed, groups)) === 0)
    return { status: 'True', reason: 'ScaledToZero', message: 'no runner is wanted' }
  return { status: 'False', reason: 'RunnersStarting', message: 'runners are starting' }
}

/** Whether the pool is, or is becoming, as large as it should be: a pool with some runners up may still be in want of more. */
function findScaled(observed: PoolObserved & { pool: RunnerPool }, groups: Groups): Finding {
  const { memory, pool, unseen } = observed
  const load = loadOf(observed, groups)
  const have = countable(groups) + unseen
  const isLacking = groups.starting.length > 0 || have < wantedPods(pool.spec, load)
  const problem = isLacking ? findProblem(groups, memory, pool.spec) : undefined
  if (problem) return { status: 'False', ...problem }
  const { maxPods } = limitsOf(pool.spec)
  if (load.queued > 0 && demandedPods(pool.spec, load) > maxPods && have >= maxPods) {
    const message = `Screenshots wait and spec.maxPods (${maxPods}) is reached. Remedy: raise it if the nodes have room.`
    return { status: 'False', reason: 'AtMaximum', message }
  }
  return { status: 'True', reason: 'AsWanted', message: 'there are as many runners as wanted, or they are on their way' }
}

function findSandboxed({ sandbox }: RunnerPoolSpec, reports: SandboxReport[]): Finding {
  if (sandbox?.mode === 'off')
    return { status: 'False', reason: 'SwitchedOff', message: 'spec.sandbox.mode is off: a pod serves one account' }
  const bad = reports.find(({ chromiumSandbox, jail }) => !chromiumSandbox || !jail)
  if (bad) return { status: 'False', reason: 'BrowserNotFenced', message: describe(bad, sandbox?.mode) }
  if (reports.length === 0) return { status: 'Unknown', reason: 'NotKnown', message: 'no runner has reported yet' }
  return { status: 'True', reason: 'BrowserFenced', message: 'Chromium runs in its sandbox, in a jail whose only way out is the guard' }
}

function describe({ chromiumSandbox, jail, detail }: SandboxReport, mode: SandboxMode): string {
  const consequence = mode === 'required' ? 'nothing is captured' : 'a pod serves one account'
  const off = [chromiumSandbox ? undefined : `Chromium’s sandbox is off, so ${consequence}`, jail ? undefined : 'the jail is off'].filter(
    Boolean,
  )
  const remedy =
    'put the seccomp profile on the nodes (value seccompInstaller.enabled), set spec.sandbox.localhostProfile, and allow unprivileged user namespaces'
  return `${off.join('; ')}: ${detail}. Remedy: ${remedy}.`
}

const findGuarded = ({ guarded, reason, message }: GuardDecision): Finding => ({
  status: guarded ? 'True' : reason === 'PolicyUnknown' ? 'Unknown' : 'False',
  reason,
  message,
})

/** Conditions that say something else than before: what is worth a write at once, and perhaps an Event. */
export function changedConditions(before: RunnerPoolStatus | undefined, after: RunnerPoolStatus): Condition[] {
  return (after.conditions ?? []).filter((condition) => {
    const old = findCondition(before?.conditions, condition.type)
    return old?.status !== condition.status || old.reason !== condition.reason || old.message !== condition.message
  })
}

const COUNTS = ['observedGeneration', 'replicas', 'wanted', 'updated', 'idle', 'busy', 'queued', 'selector'] as const

/** True when the numbers differ: worth a write, but not one for each capture. */
export const hasOtherCounts = (before: RunnerPoolStatus | undefined, after: RunnerPoolStatus): boolean =>
  COUNTS.some((field) => before?.[field] !== after[field])

/** What is worth a write at once; the rest comes and goes with the load, and is written with the numbers. */
export const isUrgent = ({ type, status, reason }: Condition): boolean =>
  type !== ConditionType.scaled || (status === 'False' && POOL_REASONS[reason as PoolReason]?.event === true)

/** One line of the pool's story. */
export interface PoolEvent {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
}

/** What is to be told by Events: problem, and the end of trouble that was told. */
export function poolEvents(before: RunnerPoolStatus | undefined, after: RunnerPoolStatus | undefined): PoolEvent[] {
  if (!after) return []
  const events = changedConditions(before, after).flatMap(({ type, status, reason, message }): PoolEvent[] => {
    const old = findCondition(before?.conditions, type)
    if (status === 'False') return POOL_REASONS[reason as PoolReason]?.event ? [{ type: 'Warning', reason, message }] : []
    const isRecovery = status === 'True' && old?.status === 'False' && POOL_REASONS[old.reason as PoolReason]?.event === true
    return isRecovery ? [{ type: 'Normal', reason, message: `${message} (it was ${old.reason})` }] : []
  })
  // Ready and Scaled may tell the same obstacle.
  return events.filter(
    ({ reason, message }, place) => events.findIndex((other) => other.reason === reason && other.message === message) === place,
  )
}
