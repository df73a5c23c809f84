import type { AttemptFinding } from '@tintype/crds/webhooks/delivery-log'
import type { SigningTexts } from '../../webhook/sealed-secrets.ts'
import type { PostOutcome } from '../http/post.ts'

const MAX_BYTES = 1024
const MASK = '***'
/** A cut-off secret shorter than this tells nothing. */
const MIN_REST = 6

/**
 * The beginning of an answer's body as the log keeps it: at most a KiB of valid UTF-8. An endpoint that echoes its secret must not put it
 * where whoever may read the log would see it: also not the first half of it, at the cut.
 */
export function toLoggedResponse(excerpt: Buffer, { current, previous }: SigningTexts): string {
  // A character that the cut has halved is left out; what was never UTF-8 is replaced.
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

/** What the log holds of a post that began at that instant. */
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
