import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { FastifyReply } from 'fastify'
import { type QueryOf, wholeNumber } from '../../http/query.ts'
import type { CreateRequest } from './create-body.ts'
import type { ScreenshotsDeps } from './deps.ts'

// Holds requests until a capture has finished.

/** Maximum time to hold a request, in seconds. It is below the usual proxy timeouts of 30 and 60 seconds. */
const MAX_WAIT_SECONDS = 25

/** Query of the routes that hold requests. */
export const waitQuery = {
  wait: wholeNumber({
    description: 'Maximum seconds to hold the request until the capture has finished.',
    example: 10,
    minimum: 1,
    maximum: MAX_WAIT_SECONDS,
    expected: `a whole number of seconds from 1 to ${MAX_WAIT_SECONDS}`,
  }),
}
export type WaitQuery = QueryOf<typeof waitQuery>

/** How long a create is held, and the body of its response. */
export interface ResponsePlan {
  waitSeconds: number
  body: 'record' | 'file' | 'empty'
}

interface Asked {
  request: Pick<CreateRequest, 'async' | 'responseType'>
  waitSeconds?: number | undefined
  /** The body that `Accept` asks for. */
  preferred: 'file' | 'record'
}

/**
 * Holds for `wait` seconds. Without it, holds as long as possible for `async: false` or when the client wants the file, else not at all.
 * `response_type` takes precedence over Accept.
 */
export function planResponse({ request: { async: isAsync, responseType }, waitSeconds, preferred }: Asked): ResponsePlan {
  const wantsFile = responseType === 'by_format' || (responseType === undefined && preferred === 'file')
  const body = wantsFile ? 'file' : responseType === 'empty' ? 'empty' : 'record'
  const isHeld = isAsync === false || (isAsync === undefined && wantsFile)
  return { waitSeconds: waitSeconds ?? (isHeld ? MAX_WAIT_SECONDS : 0), body }
}

/** Holds a request until the capture finishes, the time is up, the client disconnects or the process shuts down. Returns the latest state. */
export async function holdUntilFinished(
  screenshot: Screenshot,
  seconds: number,
  reply: FastifyReply,
  { screenshots, draining }: Pick<ScreenshotsDeps, 'screenshots' | 'draining'>,
): Promise<Screenshot | undefined> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  reply.raw.once('close', end)
  draining.addEventListener('abort', end, { once: true })
  if (draining.aborted) end()
  try {
    return await screenshots.waitUntilFinished(screenshot, seconds * 1_000, ending.signal)
  } finally {
    reply.raw.off('close', end)
    draining.removeEventListener('abort', end)
  }
}
