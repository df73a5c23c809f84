import { RESPONSE_REMEDIES } from '../generated/remedies.ts'
import type { TintypeErrorFields } from './errors.ts'

// Messages of the client speak to programmers. The command line and the console say the same to people, who see neither headers nor fields.

type Facts = Pick<TintypeErrorFields, 'retryAfterSeconds' | 'details'>

const tryAgain = ({ retryAfterSeconds: seconds }: Facts): string => {
  if (!seconds) return 'Try again in a moment.'
  return `Try again in ${seconds === 1 ? '1 second' : `${seconds} seconds`}.`
}

/** `2026-12-01T00:00:00.000Z` → `2026-12-01 00:00 UTC`. */
const toMinute = (instant: string): string => `${instant.slice(0, 16).replace('T', ' ')} UTC`

function waitForReset({ details }: Facts): string {
  const resetAt = details !== undefined && 'reset_at' in details ? details.reset_at : undefined
  const until = typeof resetAt === 'string' ? toMinute(resetAt) : 'the next month'
  return `Wait until ${until}, or ask an administrator of this service for a larger plan.`
}

/** What people do, where the remedy of the API names a header or a field. */
const REMEDIES: Readonly<Record<string, (facts: Facts) => string>> = {
  VALIDATION_ERROR: () => 'Correct what you entered.',
  UNAUTHORIZED: () => 'Sign in with an API key.',
  INSUFFICIENT_SCOPE: () => 'Use an API key that has this scope.',
  IDEMPOTENCY_IN_PROGRESS: tryAgain,
  ROTATION_IN_PROGRESS: () => 'Wait until the previous text has expired.',
  LIMIT_REACHED: () => 'Delete API keys, webhooks or schedules that you no longer need.',
  NOT_READY: () => 'Wait until the capture has ended.',
  PRECONDITION_FAILED: () => 'Reload it, and make the change again.',
  // The message has the seconds.
  RATE_LIMIT_EXCEEDED: () => '',
  QUEUE_FULL: tryAgain,
  TOO_MANY_DOWNLOADS: tryAgain,
  SERVICE_UNAVAILABLE: tryAgain,
  USAGE_LIMIT_REACHED: waitForReset,
}

/** A message of the client for people: the remedy names what they see. */
export function toPeopleMessage(message: string, code: string, facts: Facts): string {
  const remedy = RESPONSE_REMEDIES[code]
  const own = REMEDIES[code]
  return remedy === undefined || own === undefined ? message : message.replace(remedy, () => own(facts)).trimEnd()
}
