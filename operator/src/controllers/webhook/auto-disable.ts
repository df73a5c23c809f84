// Decides when an endpoint has failed for so long that it is disabled. Pure.

import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'

/** Days of failures after which an endpoint is disabled; undefined: never. */
export interface DisableSettings {
  disableAfterDays?: number | undefined
}

const HOUR_MILLISECONDS = 3_600_000
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS
/** Minimum time between first and last failure: one night of failures is not enough, however many events there were. */
const MIN_SPREAD_MILLISECONDS = 12 * HOUR_MILLISECONDS
/** After this time without a failed post, failures count as sporadic. */
export const FAILURE_GAP_MILLISECONDS = DAY_MILLISECONDS

/**
 * Returns why a webhook must be disabled; undefined otherwise. Failures count since the last success, or since the webhook was activated if
 * that was later.
 */
export function findDisabledReason(webhook: Webhook, { disableAfterDays }: DisableSettings, now: Date): string | undefined {
  const { spec, status } = webhook
  const { activeSince, statistics } = status ?? {}
  // The default webhook has many unrelated URLs, so one dead URL must not disable it.
  if (spec.isDefault || disableAfterDays === undefined || !isActive(webhook) || activeSince === undefined) return undefined
  const { failingSince, lastFailureTime, lastStatusCode = 0, consecutiveFailures = 0 } = statistics ?? {}
  if (failingSince === undefined || lastFailureTime === undefined || consecutiveFailures === 0) return undefined
  const [first, last] = [Math.max(Date.parse(failingSince), Date.parse(activeSince)), Date.parse(lastFailureTime)]
  const isLongAgo = now.getTime() - first >= disableAfterDays * DAY_MILLISECONDS
  const isSporadic = last - first < MIN_SPREAD_MILLISECONDS || now.getTime() - last > FAILURE_GAP_MILLISECONDS
  if (!isLongAgo || isSporadic) return undefined
  const reason = lastStatusCode === 0 ? 'the last one got no response' : `the last response was ${lastStatusCode}`
  return `every post since ${new Date(first).toISOString()} failed; ${reason}`
}
