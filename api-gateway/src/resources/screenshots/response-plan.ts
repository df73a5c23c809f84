import { invalid, type Problem } from '../../common/errors.ts'
import { unknownName } from '../../http/problems.ts'
import type { CreateRequest } from './create-body.ts'

/** Maximum time to hold a request, in seconds. It is below the usual proxy timeouts of 30 and 60 seconds. */
export const MAX_WAIT_SECONDS = 25

/**
 * Parses `?wait=1..25`, the only parameter of routes that hold requests.
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

/** How long a create is held, and the body of its response. */
export interface ResponsePlan {
  waitSeconds: number
  body: 'record' | 'file' | 'empty'
}

interface Asked {
  request: Pick<CreateRequest, 'async' | 'responseType'>
  waitSeconds?: number | undefined
  prefersFile: boolean
}

/**
 * Holds for `wait` seconds. Without it, holds as long as possible for `async: false` or when the client wants the file, else not at all.
 * `response_type` takes precedence over Accept.
 */
export function planResponse({ request: { async: isAsync, responseType }, waitSeconds, prefersFile }: Asked): ResponsePlan {
  const wantsFile = responseType === 'by_format' || (responseType === undefined && prefersFile)
  const body = wantsFile ? 'file' : responseType === 'empty' ? 'empty' : 'record'
  const isHeld = isAsync === false || (isAsync === undefined && wantsFile)
  return { waitSeconds: waitSeconds ?? (isHeld ? MAX_WAIT_SECONDS : 0), body }
}
