import { isRetryable, type JobErrorCode } from '@tintype/crds/schema/errors'

/** Why there is no picture. `message` is for the client: it names no address, path or secret that is not the client's own. */
export class CaptureError extends Error {
  override name = 'CaptureError'
  readonly code: JobErrorCode

  constructor(code: JobErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** True when another attempt may succeed: the failure is not the page's own. */
  get retryable(): boolean {
    return isRetryable(this.code)
  }
}

/** A protocol error, a lost browser or a bug, told as what it is to a client: not the page's fault, unless the step that met it says so. */
export function toCaptureError(error: unknown, step?: { name: string; code?: JobErrorCode }): CaptureError {
  if (error instanceof CaptureError) return error
  const where = step === undefined ? '' : ` in the step ${step.name}`
  return new CaptureError(step?.code ?? 'INTERNAL_ERROR', `the browser or the runner failed${where}`, { cause: error })
}
