import { isRetryable, type JobErrorCode } from '@tintype/crds/errors'

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

/** A protocol error, a lost browser or a bug, told as what it is to a client: not the page's fault. */
export const toCaptureError = (error: unknown): CaptureError =>
  error instanceof CaptureError ? error : new CaptureError('INTERNAL_ERROR', 'the browser or the runner failed', { cause: error })
