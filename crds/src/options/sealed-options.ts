import { z } from 'zod'
import { CaptureOptions, isLarge } from './catalog.ts'
import { SealedPrivateOptions } from './private.ts'

// The content that the gateway encrypts and the operator decrypts. Options that do not fit in a Kubernetes object are in the bucket, bound to the
// object's name or to the batch that shares them. Private options are in the object itself if they fit, bound to its name and URL.

/** Maximum bytes of JSON for the options of one object. Larger options move to the bucket. */
export const MAX_INLINE_BYTES = 8192

/**
 * Maximum bytes of JSON for the options in the bucket. HTML of 2,097,152 characters has at most 6 MiB in any script. Only control characters need more,
 * and they have no place in a page.
 */
export const MAX_OPTIONS_BYTES = 8 * 1024 * 1024
/** Maximum bytes of such an object: encrypted and in base64, with a margin. */
export const MAX_SEALED_BYTES = 12 * 1024 * 1024

/** The content of `spec.sealedOptions`, and of the object that `spec.optionsObject` names. */
export const SealedOptions = z.strictObject({ options: CaptureOptions.optional(), privateOptions: SealedPrivateOptions.optional() })
export type SealedOptions = z.infer<typeof SealedOptions>

/** Separates the options that may be large. The small ones determine the time limits of a capture and the name of its file. */
export function splitLarge(options: CaptureOptions): { small: CaptureOptions; large: CaptureOptions } {
  const entries = Object.entries(options)
  return {
    small: Object.fromEntries(entries.filter(([name]) => !isLarge(name))),
    large: Object.fromEntries(entries.filter(([name]) => isLarge(name))),
  }
}

/** True if the options fit in a Kubernetes object. A long text does not, and need not be converted to JSON to know it. */
export const areInline = (options: object): boolean =>
  Object.values(options).every((value) => typeof value !== 'string' || value.length <= MAX_INLINE_BYTES) &&
  Buffer.byteLength(JSON.stringify(options)) <= MAX_INLINE_BYTES
