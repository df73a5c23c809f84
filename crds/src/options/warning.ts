import type { AllOptions } from './contradictions.ts'

type Name = keyof AllOptions & string

/** A combination in which an option has no effect. */
export interface Warning {
  /** In camel case. */
  option: Name
  /** The end of the sentence `… has no effect …`, such as `without full_page`. */
  reason: string
  /** True if the option has no effect. Called only for options that are set. */
  hasNoEffect: (options: AllOptions) => boolean
}
