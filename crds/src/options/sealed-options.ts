import { z } from 'zod'
import { CaptureOptions, LARGE_OPTIONS } from './catalogue.ts'
import { PrivateOptions } from './private.ts'

// What the gateway puts into a sealed text, and the operator takes out of it. Options that do not fit in an object lie in the bucket, sealed to
// the object's name or to the batch that shares them; private ones are in the object itself, sealed to its name and address.

/** Bytes of JSON that the options of one object may have; what is beyond goes to the bucket. */
export const MAX_INLINE_BYTES = 8192

/** The content of `spec.sealedOptions`, and of the object that `spec.optionsObject` names. */
export const SealedOptions = z.strictObject({ options: CaptureOptions.optional(), privateOptions: PrivateOptions.optional() })
export type SealedOptions = z.infer<typeof SealedOptions>

/** Takes out the options that may be large. What stays decides how long a capture may take and what its file is called. */
export function splitLarge(options: CaptureOptions): { small: CaptureOptions; large: CaptureOptions } {
  const isLarge = ([name]: [string, unknown]): boolean => LARGE_OPTIONS.some((large) => large === name)
  const entries = Object.entries(options)
  return {
    small: Object.fromEntries(entries.filter((entry) => !isLarge(entry))),
    large: Object.fromEntries(entries.filter(isLarge)),
  }
}

/** Bytes that a value has as JSON. */
export const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value))
