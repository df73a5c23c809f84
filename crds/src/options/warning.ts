import type { AllOptions, OptionName } from './contradiction.ts'

/** A combination in which an option has no effect. */
export interface Warning {
  /** In camel case. */
  option: OptionName
  /** The end of the sentence `… has no effect …`, such as `without full_page`. */
  reason: string
  /** True if the option has no effect. Called only for options that are set. */
  hasNoEffect: (options: AllOptions) => boolean
}
