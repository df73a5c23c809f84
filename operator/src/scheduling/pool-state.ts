import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { GuardDecision } from '../controllers/guard/decision.ts'
import type { PoolReason } from '../kube/condition-reasons.ts'
import type { Runner } from '../runner/runners.ts'

// State and actions of a pool.

/** Why runners do not become ready, and what to do. */
export interface Problem {
  reason: Extract<PoolReason, 'Unschedulable' | 'ImagePullFailed' | 'RunnersFailing' | 'PodsRefused'>
  message: string
}

/** State of a pool that the leader keeps in memory between reconciles. */
export interface PoolMemory {
  /** Since when there have been more pods than desired; epoch milliseconds. */
  surplusSince: number | undefined
  /** Since when idle pods have been missing only because pods are busy; epoch milliseconds. */
  lackSince: number | undefined
  /** Number of consecutive pods that ended before they could capture, or that the API server rejected. */
  failedStarts: number
  lastFailureAt: number
  lastFailure: Problem | undefined
  /** Template of these failed starts: a corrected template is tried at once. */
  templateHash: string
  statusWrittenAt: number
}

export interface PoolObserved {
  pool: RunnerPool | undefined
  runners: Runner[]
  /** Pods that were created but are not in the cache yet. */
  unseen: number
  nextOrdinal: number
  templateHash: string
  /** Number of queued Screenshots. */
  queued: number
  /** Number of queued Screenshots whose account is at its limit. More runners would not help them. */
  heldBack: number
  /** Accounts with queued Screenshots. */
  accountsWaiting: readonly string[]
  meanCaptureMilliseconds: number
  guard: GuardDecision
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
