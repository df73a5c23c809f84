import type { AttemptFinding } from '@tintype/crds/webhooks/deliveries'
import type { SigningTexts } from '../../webhook/signing-secret.ts'
import type { PostOutcome } from '../http/post.ts'

const MAX_BYTES = 1024
const MASK = '***'
/** Shorter prefixes of a secret are not masked. */
const MIN_REST = 6

/**
 * The start of a response body for the delivery log: at most 1 KiB of valid UTF-8. Secrets that the endpoint echoes are masked, also a
 * prefix of a secret at the cut, because readers of the log must not learn them.
 */
export function toLoggedResponse(excerpt: Buffer, { current, previous }: SigningTexts): string {
  // A character that the limit cuts is dropped; invalid UTF-8 is replaced.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(excerpt.subarray(0, MAX_BYTES), { stream: true })
  return [current, previous].reduce<string>((shown, secret) => (secret === undefined ? shown : mask(shown, secret)), text)
}

function mask(text: string, secret: string): string {
  const whole = text.replaceAll(secret, MASK)
  for (let length = Math.min(secret.length - 1, whole.length); length >= MIN_REST; length--) {
    if (whole.endsWith(secret.slice(0, length))) return whole.slice(0, -length) + MASK
  }
  return whole
}

/** Fields of the delivery log for an event that the endpoint no longer wanted, so that it was not posted again. */
export const toWithdrawal = (attempt: number, at: string) =>
  ({ attempt, last: true, at, milliseconds: 0, statusCode: 0, outcome: 'withdrawn' }) as const

/** Fields of the delivery log for a post that started at `at`. */
export function toFinding(
  { end, isSuccess, statusCode, detail, durationMilliseconds, excerpt }: PostOutcome,
  at: Date,
  secrets: SigningTexts,
): AttemptFinding {
  return {
    at: at.toISOString(),
    milliseconds: Math.round(durationMilliseconds),
    statusCode,
    outcome: isSuccess ? 'success' : end,
    ...(isSuccess ? {} : { detail }),
    ...(statusCode === 0 ? {} : { answer: toLoggedResponse(excerpt, secrets) }),
  }
}
