import type { SandboxReport, VideoReport } from '@tintype/crds/dispatch/dispatch'
import type { RunnerPool, RunnerPoolSpec, RunnerPoolStatus } from '@tintype/crds/kinds/runner-pool'
import { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { type Condition, ConditionType, findCondition, setCondition } from '@tintype/crds/schema/conditions'
import { MAX_LABEL_LENGTH } from '@tintype/crds/schema/custom-resource'
import { POOL_REASONS, type PoolReason } from '../../kube/condition-reasons.ts'
import { limitsOf, podSelector } from '../../runner/pod.ts'
import { unschedulableReason, waitingReason } from '../../runner/pod-state.ts'
import { hasRequiredSandbox, meetsSpec } from '../../runner/runners.ts'
import { countable, type Groups } from '../../scheduling/growth.ts'
import { demandedPods, wantedPods } from '../../scheduling/size.ts'
import type { GuardDecision } from '../guard/controller.ts'
import { heldBackIn, loadOf, type PoolMemory, type PoolObserved, type Problem } from './decide.ts'

// Builds the status of a RunnerPool. Pure.

type SandboxMode = NonNullable<RunnerPoolSpec['sandbox']>['mode'] | undefined
type Finding = Pick<Condition, 'status' | 'message'> & { reason: PoolReason }

const MAX_MESSAGE = 2_000
/** Accounts that a message names. */
const MAX_ACCOUNTS = 3

/** Builds the status from the observed state. Conditions keep their transition times. */
export function buildStatus(observed: PoolObserved & { pool: RunnerPool }, groups: Groups, now: Date): RunnerPoolStatus {
  const { pool, runners, queued, guard, templateHash } = observed
  const findings: Record<string, Finding> = {
    [ConditionType.ready]: findReady(observed, groups),
    [ConditionType.scaled]: findScaled(observed, groups),
    [ConditionType.sandboxed]: findSandboxed(pool.spec, reportsOf(observed)),
    [ConditionType.guarded]: findGuarded(guard),
    ...(pool.spec.video === true ? { [ConditionType.videoReady]: findVideoReady(pool, videoReportsOf(observed)) } : {}),
  }
  const { generation } = pool.metadata
  let conditions = (pool.status?.conditions ?? []).filter(({ type }) => type !== ConditionType.videoReady || pool.spec.video === true)
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
    heldBack: heldBackIn(observed),
    selector: podSelector(pool.metadata.name),
    conditions,
  }
}

/** Sandbox reports of the pods that can capture. */
const reportsOf = ({ runners }: PoolObserved): SandboxReport[] =>
  runners.flatMap(({ state, sandbox }) => (state === 'ended' || state === 'terminating' || sandbox === undefined ? [] : [sandbox]))

/** Video reports of the pods that have identified themselves. */
const videoReportsOf = ({ runners }: PoolObserved): (VideoReport | undefined)[] =>
  runners.flatMap(({ state, sandbox, video }) => (state === 'ended' || state === 'terminating' || sandbox === undefined ? [] : [video]))

function findReady(observed: PoolObserved & { pool: RunnerPool }, groups: Groups): Finding {
  const { guard, memory, pool } = observed
  const up = groups.busy.length + groups.idle.length + groups.dedicated.length + groups.stale.length
  if (!canBeNamed(pool)) {
    const message = `no screenshot can name the pool ${pool.metadata.name}, because it has dots or more than ${MAX_LABEL_LENGTH} characters. Create another pool.`
    return { status: 'False', reason: 'InvalidName', message }
  }
  if (!guard.guarded) return { status: 'False', reason: 'NotGuarded', message: guard.message }
  if (up > 0) return { status: 'True', reason: 'RunnersReady', message: 'At least one runner can capture.' }
  if (groups.starting.some((runner) => runner.sandbox !== undefined && !hasRequiredSandbox(runner, pool.spec))) {
    const message = 'spec.sandbox.mode is required and the runners have no sandbox, so nothing is captured. See the condition Sandboxed.'
    return { status: 'False', reason: 'SandboxRequired', message }
  }
  if (groups.starting.some((runner) => runner.sandbox !== undefined && !meetsSpec(runner, pool.spec))) {
    const message = 'spec.video is true and the runners cannot record, so nothing is captured. See the condition VideoReady.'
    return { status: 'False', reason: 'VideoUnavailable', message }
  }
  const problem = findProblem(groups, memory, pool.spec)
  if (problem) return { status: 'False', ...problem }
  if (wantedPods(pool.spec, loadOf(observed, groups)) === 0)
    return { status: 'True', reason: 'ScaledToZero', message: 'Nothing is queued, so no runners run.' }
  return { status: 'False', reason: 'RunnersStarting', message: 'Runners are starting.' }
}

/** False for a pool that exists although `poolName` cannot be its name: older CRDs accepted it. */
const canBeNamed = ({ metadata }: RunnerPool): boolean => ScreenshotSpec.shape.poolName.safeParse(metadata.name).success

/** Whether the pool has its desired size or is scaling to it. A pool with some ready runners may still need more. */
function findScaled(observed: PoolObserved & { pool: RunnerPool }, groups: Groups): Finding {
  const { memory, pool, unseen } = observed
  const load = loadOf(observed, groups)
  const have = countable(groups) + unseen
  const isLacking = groups.starting.length > 0 || have < wantedPods(pool.spec, load)
  const problem = isLacking ? findProblem(groups, memory, pool.spec) : undefined
  if (problem) return { status: 'False', ...problem }
  const { maxPods } = limitsOf(pool.spec)
  if (load.queued > 0 && demandedPods(pool.spec, load) > maxPods && have >= maxPods) {
    const kept = groups.idle.length === 1 ? ' The last runner is kept for accounts that run nothing.' : ''
    const message = `Screenshots are queued, and the pool has spec.maxPods (${maxPods}) pods. Raise spec.maxPods if the nodes have capacity.`
    return { status: 'False', reason: 'AtMaximum', message: `${message}${kept}${describeHeldBack(observed)}` }
  }
  const message = `The desired number of runners exists or is starting.${describeHeldBack(observed)}`
  return { status: 'True', reason: 'AsWanted', message }
}

/** Whose Screenshots wait for captures of their own account to end, for `kubectl describe`. Empty: nobody's. */
function describeHeldBack({ heldBack }: PoolObserved): string {
  const accounts = [...heldBack.keys()].sort()
  if (accounts.length === 0) return ''
  const more = accounts.length > MAX_ACCOUNTS ? ` and ${accounts.length - MAX_ACCOUNTS} more` : ''
  const names = accounts.slice(0, MAX_ACCOUNTS).join(', ')
  return ` Screenshots of ${names}${more} wait, because their account runs as many captures as it may (maxRunning of its plan).`
}

function findSandboxed({ sandbox }: RunnerPoolSpec, reports: SandboxReport[]): Finding {
  if (sandbox?.mode === 'off')
    return { status: 'False', reason: 'SwitchedOff', message: 'spec.sandbox.mode is off, so each pod serves only one account.' }
  const bad = reports.find(({ chromiumSandbox, jail }) => !chromiumSandbox || !jail)
  if (bad) return { status: 'False', reason: 'BrowserNotFenced', message: describe(bad, sandbox?.mode) }
  if (reports.length === 0) return { status: 'Unknown', reason: 'NotKnown', message: 'No runner has reported yet.' }
  return {
    status: 'True',
    reason: 'BrowserFenced',
    message: 'Chromium runs in its sandbox and in a process jail. All its traffic goes through the guard proxy.',
  }
}

function describe({ chromiumSandbox, jail, detail }: SandboxReport, mode: SandboxMode): string {
  const consequence = mode === 'required' ? 'nothing is captured' : 'each pod serves only one account'
  const off = [
    chromiumSandbox ? undefined : `Chromium’s sandbox is off, so ${consequence}`,
    jail ? undefined : 'the process jail is off',
  ].filter(Boolean)
  const remedy =
    'Install the seccomp profile on the nodes (value seccompInstaller.enabled), set spec.sandbox.localhostProfile, and allow unprivileged user namespaces'
  return `${off.join('; ')}: ${detail}. ${remedy}.`
}

/** Each runner tests at its start whether it can record. Without runners the last result holds, because a pool without videos has none. */
function findVideoReady({ spec: { podTemplate }, status }: RunnerPool, reports: (VideoReport | undefined)[]): Finding {
  const last = findCondition(status?.conditions, ConditionType.videoReady) as Finding | undefined
  if (reports.length === 0) return last ?? { status: 'Unknown', reason: 'NotKnown', message: 'No runner has reported yet.' }
  const bad = reports.findIndex((report) => !report?.available)
  if (bad === -1) return { status: 'True', reason: 'VideoAvailable', message: 'The runners record videos.' }
  const detail = (reports[bad]?.detail || 'the program of the image does not know videos').replace(/\.$/, '')
  const message = `the runners cannot record videos: ${detail}. ${podTemplate.image} must be the image capture-runner-video of this release.`
  return { status: 'False', reason: 'VideoUnavailable', message }
}

const findGuarded = ({ guarded, reason, message }: GuardDecision): Finding => ({
  status: guarded ? 'True' : reason === 'PolicyUnknown' ? 'Unknown' : 'False',
  reason,
  message,
})

/** Conditions whose status, reason or message changed. They are written at once and may be recorded as Events. */
export function changedConditions(before: RunnerPoolStatus | undefined, after: RunnerPoolStatus): Condition[] {
  return (after.conditions ?? []).filter((condition) => {
    const old = findCondition(before?.conditions, condition.type)
    return old?.status !== condition.status || old.reason !== condition.reason || old.message !== condition.message
  })
}

const COUNTS = ['observedGeneration', 'replicas', 'wanted', 'updated', 'idle', 'busy', 'queued', 'heldBack', 'selector'] as const

/** True when the counts differ. They are written, but not for each capture. */
export const hasOtherCounts = (before: RunnerPoolStatus | undefined, after: RunnerPoolStatus): boolean =>
  COUNTS.some((field) => before?.[field] !== after[field])

/** True for conditions that are written at once. Other changes of Scaled follow the load, so they are written with the counts. */
export const isUrgent = ({ type, status, reason }: Condition): boolean =>
  type !== ConditionType.scaled || (status === 'False' && POOL_REASONS[reason as PoolReason] === true)

/** An Event about the pool. */
export interface PoolEvent {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
}

/** Builds the Events: a Warning when a problem begins, a Normal event when a reported problem clears. */
export function poolEvents(before: RunnerPoolStatus | undefined, after: RunnerPoolStatus | undefined): PoolEvent[] {
  if (!after) return []
  const events = changedConditions(before, after).flatMap(({ type, status, reason, message }): PoolEvent[] => {
    const old = findCondition(before?.conditions, type)
    if (status === 'False') return POOL_REASONS[reason as PoolReason] ? [{ type: 'Warning', reason, message }] : []
    const isRecovery = status === 'True' && old?.status === 'False' && POOL_REASONS[old.reason as PoolReason] === true
    return isRecovery ? [{ type: 'Normal', reason, message: `${message} Previous reason: ${old.reason}.` }] : []
  })
  // Ready and Scaled may report the same problem.
  return events.filter(
    ({ reason, message }, place) => events.findIndex((other) => other.reason === reason && other.message === message) === place,
  )
}

/**
 * Finds out why runners do not become ready, in the cluster's own words; undefined when no problem is known. The message contains no counts
 * and no pod names, so that it does not change with each pod that has the same problem. Pure.
 */
export function findProblem({ starting }: Groups, memory: PoolMemory, spec: RunnerPool['spec']): Problem | undefined {
  for (const { pod } of starting) {
    const unschedulable = unschedulableReason(pod)
    if (unschedulable !== undefined)
      return { reason: 'Unschedulable', message: `no node can run a runner: ${unschedulable.replace(/\.$/, '')}. ${ROOM}` }
    const waiting = waitingReason(pod)
    if (waiting?.isImage)
      return { reason: 'ImagePullFailed', message: `${spec.podTemplate.image} cannot be pulled: ${waiting.text}. ${IMAGE}` }
    if (waiting) return { reason: 'RunnersFailing', message: `the container of a runner does not start: ${waiting.text}` }
  }
  return memory.failedStarts > 0 ? memory.lastFailure : undefined
}

const ROOM =
  'Add nodes, lower spec.podTemplate.resources.requests or spec.maxPods, or correct nodeSelector and tolerations. The operator retries automatically.'
const IMAGE = 'Correct spec.podTemplate.image or imagePullSecrets. The operator retries automatically.'
