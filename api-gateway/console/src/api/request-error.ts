import { type TintypeErrorFields, toFailureMessage, toMessage } from '../../../client/src/common/errors.ts'
import { toPeopleMessage } from '../../../client/src/common/people-remedies.ts'
import type { components } from '../../../client/src/generated/api.ts'

/** One problem of a request, as the API reports it. */
export type Problem = components['schemas']['Problem']

/** The form shows the names of options, so `options.delay` is `delay`. */
const toFieldNames = (message: string): string => message.replaceAll(/\boptions\.(?=[a-z])/g, '')

/** Why a capture failed, and what to do, with the names of the form. */
export const describeFailure = (error: { code: string; message: string }): string => toFieldNames(toFailureMessage(error))

const toFieldProblem = ({ path, message, ...problem }: Problem): Problem => ({
  ...problem,
  path: path.replace(/^options\./, ''),
  message: toFieldNames(message),
})

/** What is wrong and what to do, as other clients say it. Several problems are listed below the message. */
function toText(
  code: string,
  message: unknown,
  problems: readonly Problem[],
  facts: { details: unknown; retryAfterSeconds?: number | undefined },
): string {
  if (typeof message !== 'string') return 'The request failed.'
  if (problems.length > 1) return message
  return toPeopleMessage(toMessage(code, message, problems), code, facts as TintypeErrorFields)
}

/** An error response of the API, or a failed connection. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  readonly code: string
  readonly problems: readonly Problem[]
  /** For administrators. */
  readonly requestId: string | undefined

  /** @param retryAfterSeconds of the header Retry-After */
  constructor(status: number, { code, message, details, request_id }: Record<string, unknown>, retryAfterSeconds?: number) {
    const problems = Array.isArray(details) ? (details as Problem[]).map(toFieldProblem) : []
    super(toText(String(code), message, problems, { details, retryAfterSeconds }))
    this.status = status
    this.code = typeof code === 'string' ? code : 'UNKNOWN'
    this.problems = problems
    this.requestId = typeof request_id === 'string' ? request_id : undefined
  }
}

/** True if no response arrived. The same request may succeed later. */
export const isConnectionError = (error: unknown): boolean => error instanceof RequestError && error.status === 0
