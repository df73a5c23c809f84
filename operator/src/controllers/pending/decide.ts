// Decides about the queued Screenshots of one account: which get a condition with the reason why they cannot run, and which fail. Pure.

import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import type { ScreenshotReason } from '../../kube/condition-reasons.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { isCharged } from '../quota/decide.ts'

/** Why a Screenshot cannot run, and what to do. */
export interface Obstacle {
  code: Extract<JobErrorCode, 'POOL_NOT_FOUND' | 'ACCOUNT_NOT_FOUND' | 'VIDEO_UNAVAILABLE'>
  /** Reason of the condition while it waits for the obstacle to go away; absent: it fails at once. */
  reason?: Extract<ScreenshotReason, 'PoolNotFound' | 'AccountNotFound'> | undefined
  message: string
}

/** An obstacle that can go away without a change of the Screenshot. */
type PassingObstacle = Obstacle & { reason: NonNullable<Obstacle['reason']> }

/** A queued Screenshot; `obstacle` is absent when it can run. */
export interface PendingScreenshot {
  shot: Screenshot
  obstacle: Obstacle | undefined
}

export interface PendingLimits {
  /** Maximum number of queued Screenshots. It applies separately to those that can run and those that cannot. */
  maxQueued: number
  /** How long a Screenshot that cannot run may wait. */
  unrunnableMilliseconds: number
}

export type PendingAction =
  /** Sets its condition to the reason why it cannot run. */
  | { do: 'note'; shot: Screenshot; obstacle: PassingObstacle }
  /** Clears that condition. */
  | { do: 'clear'; shot: Screenshot }
  | { do: 'fail'; shot: Screenshot; code: JobErrorCode; message: string }

export interface PendingDecision {
  actions: PendingAction[]
  /** Time until the next Screenshot has waited too long; undefined when none is waiting for that. */
  nextMilliseconds: number | undefined
}

export function decide(waiting: readonly PendingScreenshot[], limits: PendingLimits, now: Date): PendingDecision {
  const actions: PendingAction[] = []
  let nextMilliseconds: number | undefined
  const excess = findExcess(waiting, limits.maxQueued)
  for (const { shot, obstacle } of waiting) {
    const condition = findCondition(shot.status?.conditions, ConditionType.runnable)
    const since = condition?.status === 'False' ? Date.parse(condition.lastTransitionTime) : undefined
    if (excess.has(shot)) actions.push({ do: 'fail', shot, code: 'QUEUE_FULL', message: queueFull(limits.maxQueued) })
    else if (!obstacle) {
      if (since !== undefined) actions.push({ do: 'clear', shot })
    } else if (!isPassing(obstacle)) actions.push({ do: 'fail', shot, code: obstacle.code, message: obstacle.message })
    else if (since === undefined || condition?.reason !== obstacle.reason) actions.push({ do: 'note', shot, obstacle })
    else {
      const left = since + limits.unrunnableMilliseconds - now.getTime()
      if (left <= 0) actions.push({ do: 'fail', shot, code: obstacle.code, message: obstacle.message })
      else nextMilliseconds = Math.min(nextMilliseconds ?? left, left)
    }
  }
  return { actions, nextMilliseconds }
}

const isPassing = (obstacle: Obstacle): obstacle is PassingObstacle => obstacle.reason !== undefined

/** Finds the newest Screenshots beyond the limit. Those that a gateway accepted or a runner had are never failed, but they count. */
function findExcess(waiting: readonly PendingScreenshot[], maxQueued: number): Set<Screenshot> {
  const groups = [waiting.filter(({ obstacle }) => !obstacle), waiting.filter(({ obstacle }) => obstacle)]
  const beyond = groups.filter(({ length }) => length > maxQueued).flatMap((group) => group.toSorted(compareAge).slice(maxQueued))
  return new Set(beyond.map(({ shot }) => shot).filter((shot) => !isCharged(shot)))
}

/** Older first. Kubernetes timestamps have a resolution of one second; within a second the name decides. */
function compareAge({ shot: { metadata: a } }: PendingScreenshot, { shot: { metadata: b } }: PendingScreenshot): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1
  return a.name < b.name ? -1 : 1
}

const queueFull = (maxQueued: number): string =>
  `${maxQueued} older screenshots of the account are queued, which is the limit. Create it again when fewer are queued, or raise queue.maxQueuedPerAccount.`

/** Index of queued Screenshots by account. */
export const PENDING_INDEX = 'pending/account'
/** True for a Screenshot that waits for a runner. */
export const isPending = (shot: Screenshot): boolean => (shot.status?.phase ?? 'Pending') === 'Pending' && !isBeingDeleted(shot)
/** The value of that index. */
export const pendingAccountOf = (shot: Screenshot): string | undefined => (isPending(shot) ? accountOf(shot) : undefined)
/** Key for all accounts that do not exist. Together they share the queue limit of one account. */
export const NO_ACCOUNT = '*'

/** Dependencies of the controller during one term. */
export interface PendingContext extends TermDeps {
  poolOf: (shot: Screenshot) => string
  /** True when uncharged Screenshots need an Account. */
  charges: boolean
  enqueueAfter: (account: string, milliseconds: number) => void
}
