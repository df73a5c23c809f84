import { invalid, type Problem } from '../errors.ts'
import { unknownName } from './problems.ts'

/** The longest that a request is held, in seconds: below the 30 and 60 seconds at which proxies give up. */
export const MAX_WAIT_SECONDS = 25

/**
 * Reads `?wait=1..25`, the only parameter of the routes that hold.
 * @throws ApiError VALIDATION_ERROR that lists every problem
 */
export function parseWaitQuery(query: Readonly<Record<string, unknown>>): { waitSeconds?: number } {
  const { wait, ...others } = query
  const problems: Problem[] = Object.keys(others).map((name) => unknownName('', name, { '': ['wait'] }))
  const isRight = typeof wait === 'string' && /^\d{1,2}$/.test(wait) && Number(wait) >= 1 && Number(wait) <= MAX_WAIT_SECONDS
  if (wait !== undefined && !isRight) {
    problems.push({ path: 'wait', code: 'invalid_value', message: `wait must be a whole number of seconds from 1 to ${MAX_WAIT_SECONDS}` })
  }
  if (problems.length > 0) throw invalid(problems)
  return wait === undefined ? {} : { waitSeconds: Number(wait) }
}

/** A route without parameters refuses all. @throws ApiError VALIDATION_ERROR that lists every problem */
export function assertNoQuery(query: Readonly<Record<string, unknown>>): void {
  const problems = Object.keys(query).map((name) => unknownName('', name, { '': [] }))
  if (problems.length > 0) throw invalid(problems)
}
