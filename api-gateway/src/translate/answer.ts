import type { CreateRequest } from './create-body.ts'
import { MAX_WAIT_SECONDS } from './wait-query.ts'

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
