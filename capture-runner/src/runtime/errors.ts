import { isRetryable, type JobErrorCode } from '@tintype/crds/schema/errors'

/** Why a capture failed. `message` goes to the client: it contains no address, path or secret except the client's own. */
export class CaptureError extends Error {
  override name = 'CaptureError'
  readonly code: JobErrorCode
  /** Code for the operator if the attempt is given up whatever `code` says; absent: `code` decides. */
  readonly givenUpAs: string | undefined

  constructor(code: JobErrorCode, message: string, { givenUpAs, ...options }: ErrorOptions & { givenUpAs?: string } = {}) {
    super(message, options)
    this.code = code
    this.givenUpAs = givenUpAs
  }

  /** True if another attempt may succeed, because the page did not cause the failure. */
  get retryable(): boolean {
    return this.givenUpAs !== undefined || isRetryable(this.code)
  }
}

/** A script of the page seems to wait in a loop for the page's virtual clock. The page must be loaded again, in real time. */
export class ClockLoopError extends CaptureError {
  constructor() {
    super('TIMEOUT', 'a script of the page did not end')
  }
}

/** Wraps a protocol error, a lost browser or a bug. The code is INTERNAL_ERROR unless the step defines its own. */
export function toCaptureError(error: unknown, step?: { name: string; code?: JobErrorCode }): CaptureError {
  if (error instanceof CaptureError) return error
  const where = step === undefined ? '' : ` in the step ${step.name}`
  return new CaptureError(step?.code ?? 'INTERNAL_ERROR', `the browser or the runner failed${where}`, { cause: error })
}
