import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { GuardDecision } from '../guard/decision.ts'
import type { PoolReason } from '../kube/condition-reasons.ts'
import type { Runner } from '../runner/runners.ts'

// What is known of a pool when the next step is decided, and what may be decided.

/** What keeps runners from coming up, and what to do. */
export interface Problem {
  reason: Extract<PoolReason, 'Unschedulable' | 'ImagePullFailed' | 'RunnersFailing' | 'PodsRefused'>
  message: string
}

/** What one leader remembers of a pool between two looks. */
export interface PoolMemory {
  /** Since when there have been more pods than wanted; epoch milliseconds. */
  surplusSince: number | undefined
  /** Since when idle pods have been missing only because pods are busy; epoch milliseconds. */
  lackSince: number | undefined
  /** Pods in a row that ended before they could capture, or were refused. */
  failedStarts: number
  lastFailureAt: number
  lastFailure: Problem | undefined
  /** Of the template that these starts failed with: a mended one is tried at once. */
  templateHash: string
  statusWrittenAt: number
}

export interface PoolObserved {
  pool: RunnerPool | undefined
  runners: Runner[]
  /** Pods that were created and are not to be seen yet. */
  unseen: number
  nextOrdinal: number
  templateHash: string
  /** Screenshots that wait for a runner. */
  queued: number
  /** Those of them that wait for their own account's captures to end: no further runner would help them. */
  heldBack: number
  /** Accounts that have something waiting. */
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
