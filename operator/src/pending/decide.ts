// What happens to the Screenshots of one account that wait: which of them say why they cannot run, and which end. Pure.

import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import type { JobErrorCode } from '@tintype/crds/schema/errors'
import type { ScreenshotReason } from '../kube/condition-reasons.ts'
import { isCharged } from '../quota/decide.ts'

/** Why a Screenshot cannot run, and what to do. */
export interface Obstacle {
  code: Extract<JobErrorCode, 'POOL_NOT_FOUND' | 'ACCOUNT_NOT_FOUND'>
  reason: Extract<ScreenshotReason, 'PoolNotFound' | 'AccountNotFound'>
  message: string
}

/** A Screenshot that waits; `obstacle` is absent when it can run. */
export interface PendingScreenshot {
  shot: Screenshot
  obstacle: Obstacle | undefined
}

export interface PendingLimits {
  /** Screenshots that may wait, of those that can run and again of those that cannot. */
  maxQueued: number
  /** How long one may wait that cannot run. */
  unrunnableMilliseconds: number
}

export type PendingAction =
  /** Its conditions say why it cannot run. */
  | { do: 'note'; shot: Screenshot; obstacle: Obstacle }
  /** Its conditions say that it can run again. */
  | { do: 'clear'; shot: Screenshot }
  | { do: 'fail'; shot: Screenshot; code: JobErrorCode; message: string }

export interface PendingDecision {
  actions: PendingAction[]
  /** Until the next Screenshot has waited for too long; undefined when none will. */
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
    } else if (since === undefined || condition?.reason !== obstacle.reason) actions.push({ do: 'note', shot, obstacle })
    else {
      const left = since + limits.unrunnableMilliseconds - now.getTime()
      if (left <= 0) actions.push({ do: 'fail', shot, code: obstacle.code, message: obstacle.message })
      else nextMilliseconds = Math.min(nextMilliseconds ?? left, left)
    }
  }
  return { actions, nextMilliseconds }
}

/** Those beyond the limit, the newest first to go. What a gateway has taken, or a runner had, stays; it counts all the same. */
function findExcess(waiting: readonly PendingScreenshot[], maxQueued: number): Set<Screenshot> {
  const groups = [waiting.filter(({ obstacle }) => !obstacle), waiting.filter(({ obstacle }) => obstacle)]
  const beyond = groups.filter(({ length }) => length > maxQueued).flatMap((group) => group.toSorted(compareAge).slice(maxQueued))
  return new Set(beyond.map(({ shot }) => shot).filter((shot) => !isCharged(shot)))
}

/** The older first. Kubernetes dates objects by seconds: names decide within one. */
function compareAge({ shot: { metadata: a } }: PendingScreenshot, { shot: { metadata: b } }: PendingScreenshot): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1
  return a.name < b.name ? -1 : 1
}

const queueFull = (maxQueued: number): string =>
  `${maxQueued} older screenshots of the account are waiting, which is the limit. Create it again when fewer wait, or raise queue.maxQueuedPerAccount.`
