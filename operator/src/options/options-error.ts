import type { JobErrorCode } from '@tintype/crds/schema/errors'

/** Options that no attempt can use. `message` is shown to the client and contains no option values. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  readonly code: Extract<JobErrorCode, 'INVALID_OPTIONS' | 'OPTION_NOT_ALLOWED' | 'BASELINE_NOT_FOUND'>

  constructor(message: string, code: OptionsError['code'] = 'INVALID_OPTIONS') {
    super(message)
    this.code = code
  }
}
