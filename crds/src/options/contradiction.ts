import type { CaptureOptions } from './catalog.ts'
import type { CacheOptions } from './output/cache.ts'
import type { PrivateOptions } from './private.ts'

/** Every option of one request: capture options, private options and cache options. */
export type AllOptions = CaptureOptions & PrivateOptions & CacheOptions
/** Name of an option, in camel case. */
export type OptionName = keyof AllOptions & string

/**
 * Options that cannot be combined. The gateway checks this, the API server checks it with CEL if the object shows all the options, and the
 * operator checks it again when it plans a capture.
 */
export interface Contradiction {
  /** Name in tests. */
  code: string
  /** The options involved, in camel case. Errors point at the first that is set. */
  paths: readonly [OptionName, ...OptionName[]]
  /** What is wrong, and how to fix it. */
  message: string
  /** The check in CEL. Absent if an option is not visible to the API server. */
  rule?: string
  holds(options: AllOptions): boolean
}
