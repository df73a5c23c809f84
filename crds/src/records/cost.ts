import type { Screenshot } from '../kinds/screenshot.ts'
import { ConditionType, findCondition } from '../schema/conditions.ts'
import { isRetryable, JOB_ERRORS, type JobErrorCode } from '../schema/errors.ts'
import { unitsOf } from '../usage/units.ts'
import { isReused } from './cache.ts'

// What a screenshot costs its account in the end. The operator refunds by these rules, and the record shows the result.

/** A failed capture that used a runner for longer keeps its charge: otherwise, pages that never end would use all runners for nothing. */
export const LONG_CAPTURE_MILLISECONDS = 60_000

/** Failures that are never charged. */
const UNCHARGED: ReadonlySet<string> = new Set(['USAGE_LIMIT_REACHED', 'ACCOUNT_SUSPENDED'] satisfies JobErrorCode[])

type Shot = Pick<Screenshot, 'spec' | 'status'>

/** True for a failed capture whose unit of quota is refunded. */
export function isFree({ status }: Pick<Screenshot, 'status'>): boolean {
  const code = status?.result?.error?.code
  if (status?.phase !== 'Failed' || code === undefined || UNCHARGED.has(code) || code === 'CANCELLED') return false
  return !isCausedByPage(code) || usedMilliseconds({ status }) <= LONG_CAPTURE_MILLISECONDS
}

/** False for failures of the service, and for codes of other versions. */
const isCausedByPage = (code: string): boolean => Object.hasOwn(JOB_ERRORS, code) && !isRetryable(code as JobErrorCode)

/** How long the last attempt used its runner. The operator's own failures have no duration, only times. */
function usedMilliseconds({ status }: Pick<Screenshot, 'status'>): number {
  const { startTime, completionTime, attempt = 0, result } = status ?? {}
  if (attempt === 0 || startTime === undefined || completionTime === undefined) return 0
  return result?.processingMilliseconds ?? Date.parse(completionTime) - Date.parse(startTime)
}

/** Units of quota that a screenshot costs. A failed one costs nothing, unless its page used a runner for over a minute. */
export function costOf(shot: Shot): number {
  const isRefunded = findCondition(shot.status?.conditions, ConditionType.refunded)?.status === 'True'
  if (isRefunded || isReused(shot) || isFree(shot) || UNCHARGED.has(shot.status?.result?.error?.code ?? '')) return 0
  return unitsOf(shot.spec)
}
