// When an endpoint has failed for so long that nobody can be meant to listen. Pure.

import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'

/** Days of failures after which an endpoint is switched off; undefined: never. */
export interface DisableSettings {
  disableAfterDays?: number | undefined
}

const HOUR_MILLISECONDS = 3_600_000
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS
/** One bad night is not enough, however many events fell into it. */
const MIN_SPREAD_MILLISECONDS = 12 * HOUR_MILLISECONDS
/** The clock of failures expires when so long no post fails: failures now and then are sporadic. */
export const FAILURE_GAP_MILLISECONDS = DAY_MILLISECONDS

/**
 * Why a webhook is to be switched off; undefined when it is not. Only failures count since the last success, or since it was switched on if
 * that was later.
 */
export function findDisabledReason({ spec, status }: Webhook, { disableAfterDays }: DisableSettings, now: Date): string | undefined {
  const { activeSince, statistics } = status ?? {}
  // The addresses of requests have nothing in common: one that is dead must not silence the others.
  if (spec.isDefault || disableAfterDays === undefined || !isActive({ spec }) || activeSince === undefined) return undefined
  const { failingSince, lastFailureTime, lastStatusCode = 0, consecutiveFailures = 0 } = statistics ?? {}
  if (failingSince === undefined || lastFailureTime === undefined || consecutiveFailures === 0) return undefined
  const [first, last] = [Math.max(Date.parse(failingSince), Date.parse(activeSince)), Date.parse(lastFailureTime)]
  const isLongAgo = now.getTime() - first >= disableAfterDays * DAY_MILLISECONDS
  const isSporadic = last - first < MIN_SPREAD_MILLISECONDS || now.getTime() - last > FAILURE_GAP_MILLISECONDS
  if (!isLongAgo || isSporadic) return undefined
  const reason = lastStatusCode === 0 ? 'there was no answer to the last' : `the last was answered ${lastStatusCode}`
  return `every post since ${new Date(first).toISOString()} has failed; ${reason}`
}
