import { invalid, type Problem } from '../../errors.ts'
import { unknownName } from '../common/problems.ts'
import type { CreateRequest } from './create-body.ts'

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

/** How a creation is answered: how long it may be held, and with what it ends. */
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
 * Held for `wait` seconds, or as long as possible when the caller says `async: false` or wants the file itself; not at all
 * when it says `async: true`, or nothing. What the body asks for wins over Accept.
 */
export function planResponse({ request: { async: isAsync, responseType }, waitSeconds, prefersFile }: Asked): ResponsePlan {
  const wantsFile = responseType === 'by_format' || (responseType === undefined && prefersFile)
  const body = wantsFile ? 'file' : responseType === 'empty' ? 'empty' : 'record'
  const isHeld = isAsync === false || (isAsync === undefined && wantsFile)
  return { waitSeconds: waitSeconds ?? (isHeld ? MAX_WAIT_SECONDS : 0), body }
}
