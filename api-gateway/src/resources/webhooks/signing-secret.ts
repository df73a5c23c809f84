import { BASE64 } from '@tintype/crds/crypto/signatures'
import type { Problem } from '../../common/errors.ts'

const PREFIX = 'whsec_'
const MIN_BYTES = 24
const MAX_BYTES = 64
const PRINTABLE = /^[!-~]+$/
const SHOWN = 4

const isInRange = (bytes: number): boolean => bytes >= MIN_BYTES && bytes <= MAX_BYTES

/** Checks a client's secret: `whsec_` and base64 of 24 to 64 bytes (Standard Webhooks), or 24 to 64 printable characters. */
export function findSigningSecretProblems(text: string): Problem[] {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : undefined
  const isRight =
    encoded === undefined
      ? PRINTABLE.test(text) && isInRange(text.length)
      : BASE64.test(encoded) && isInRange(Buffer.from(encoded, 'base64').length)
  if (isRight) return []
  const message = `signing_secret must be ${PREFIX} and base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes, or ${MIN_BYTES} to ${MAX_BYTES} printable characters without spaces`
  return [{ path: 'signing_secret', code: 'invalid_secret', message }]
}

/** A hint that identifies a secret: `whsec_…a1b2`. */
export const hintOf = (text: string): string => `${text.startsWith(PREFIX) ? PREFIX : ''}…${text.slice(-SHOWN)}`
