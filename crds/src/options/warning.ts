import type { AllOptions } from './contradictions.ts'

type Name = keyof AllOptions & string

/** One way in which an option may be without effect. */
export interface Warning {
  /** In camel case. */
  option: Name
  /** What it goes without: the end of the sentence `… has no effect …`. */
  reason: string
  /** True when the option, chosen, changes nothing. Asked only for options that were chosen. */
  isIdle: (options: AllOptions) => boolean
}
