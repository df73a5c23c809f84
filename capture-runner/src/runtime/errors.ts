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

/** A frame that the runner began never ended, so no tab of the browser can draw. The page must be loaded again in another browser. */
export class FrameHungError extends CaptureError {
  constructor() {
    super('INTERNAL_ERROR', 'the browser stopped drawing')
  }
}

/** Commands whose parameters come from options, as the browser refuses them. Another reason than a value of an option ends the lookup. */
const REFUSED_COMMAND = /Protocol error \((?:Emulation\.set(?!Virtual)\w+|Fetch\.continueRequest)\): (?!Invalid InterceptionId)(.+)/

/** The reason for which the browser refused a value of an option. Undefined for a crash, a closed page or a bug: a browser that refuses is not broken. */
export function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof CaptureError) return undefined
  const { type } = error as { type?: unknown }
  // Playwright gives the error of a lost session the command that was waiting.
  if (type === 'closed' || type === 'crashed') return undefined
  return REFUSED_COMMAND.exec(error.message)?.[1]
}

/**
 * Wraps a protocol error, a lost browser or a bug. The code is INVALID_OPTIONS if the browser refused a value, else INTERNAL_ERROR unless the step defines
 * its own.
 */
export function toCaptureError(error: unknown, step?: { name: string; code?: JobErrorCode }): CaptureError {
  if (error instanceof CaptureError) return error
  const refusal = refusalOf(error)
  if (refusal !== undefined)
    return new CaptureError('INVALID_OPTIONS', `the browser refused the value of an option: ${refusal}`, { cause: error })
  const where = step === undefined ? '' : ` in the step ${step.name}`
  return new CaptureError(step?.code ?? 'INTERNAL_ERROR', `the browser or the runner failed${where}`, { cause: error })
}
