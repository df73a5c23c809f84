import type { PoolReason } from '../../kube/condition-reasons.ts'
import type { Runner } from '../../runner/runners.ts'
import type { GrowthAction, GrowthMemory, GrowthObserved } from '../../scheduling/growth.ts'
import type { GuardDecision } from '../guard/decision.ts'

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

export type DeleteReason = 'ended' | 'spent' | 'stale' | 'stuck' | 'surplus' | 'dedicated'

export type PoolAction =
  | GrowthAction
  | { do: 'delete'; runner: Runner; reason: DeleteReason }
  | { do: 'noteSurplus'; since: number | undefined }
  | { do: 'noteFailedStart'; runner: Runner; text: string }
