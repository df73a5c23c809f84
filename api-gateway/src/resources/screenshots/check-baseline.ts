import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { type BaselineProblem, findBaselineProblem, toBaseline } from '@tintype/crds/records/approval'
import type { HttpErrorCode } from '@tintype/crds/schema/errors'
import { findRecord, type RecordDeps } from '../../archive/find-record.ts'
import { ApiError } from '../../common/errors.ts'
import type { FileStore } from '../../store/ports.ts'
import { POLL_SECONDS } from './deps.ts'

// Checks `compare_to` before anything is charged. The operator finds the picture again before the capture.

interface CheckDeps extends RecordDeps {
  files: Pick<FileStore, 'stat'>
}

const CODES: Readonly<Record<BaselineProblem['reason'], HttpErrorCode>> = {
  pending: 'NOT_READY',
  failed: 'NOT_COMPARABLE',
  format: 'NOT_COMPARABLE',
  unfit: 'NOT_COMPARABLE',
}

/**
 * Checks that the account has a completed screenshot with the id in `compare_to`, and that its picture still exists.
 * @throws ApiError NOT_FOUND, NOT_READY, NOT_COMPARABLE, EXPIRED, SERVICE_UNAVAILABLE
 */
export async function checkBaseline(
  account: string,
  { compareTo: id, compareAcceptStatus }: CaptureOptions = {},
  deps: CheckDeps,
): Promise<void> {
  if (id === undefined) return
  const found = await findRecord(account, id, deps, { isLatest: true })
  if (!found) throw new ApiError('NOT_FOUND', `compare_to: this account has no screenshot ${id}`)
  const problem = findBaselineProblem(found.screenshot, compareAcceptStatus)
  await assertComparable(found.screenshot, { field: 'compare_to', problem }, deps)
}

/**
 * Checks that a screenshot has a picture that others can be compared with.
 * @param field the field of the request that names it
 * @param problem what is wrong with it as a baseline
 * @throws ApiError NOT_READY, NOT_COMPARABLE, EXPIRED, SERVICE_UNAVAILABLE
 */
export async function assertComparable(
  screenshot: Screenshot,
  { field, problem }: { field: string; problem: BaselineProblem | undefined },
  { files }: Pick<CheckDeps, 'files'>,
): Promise<void> {
  const id = screenshotIdOf(screenshot.metadata)
  if (problem) {
    const headers = problem.reason === 'pending' ? { 'retry-after': POLL_SECONDS } : {}
    throw new ApiError(CODES[problem.reason], `${field}: ${id} ${problem.message}`, { headers })
  }
  const { key, etag } = toBaseline(screenshot)
  const file = await files.stat(key)
  if (!file || file.etag !== (etag ?? file.etag)) throw new ApiError('EXPIRED', `${field}: the file of ${id} has expired`)
}
