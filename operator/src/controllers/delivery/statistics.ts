// Counters of webhooks. They are collected in memory and written every few seconds, because a write per delivery would double the load on the
// API server. A crash loses the counts of the last seconds, but nothing in status.deliveries.

import type { WebhookStatistics } from '@tintype/crds/kinds/webhook'
import { patchStatus } from '../../kube/clients.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { FAILURE_GAP_MILLISECONDS } from '../webhook/decide.ts'
import { type DeliveryStateChange, hasEnded } from './decide.ts'

const NOTHING: WebhookStatistics = { total: 0, successful: 0, failed: 0 }

/** Counts of a change of status.deliveries. A delivery counts once, however many attempts it takes. */
export function toCounts({ before, after, statusCode, responseMilliseconds }: DeliveryStateChange, now: Date): WebhookStatistics {
  const isLast = hasEnded(after) && !hasEnded(before)
  return {
    total: before === undefined ? 1 : 0,
    successful: isLast && after.state === 'ok' ? 1 : 0,
    failed: isLast && after.state === 'failed' ? 1 : 0,
    ...(statusCode === undefined ? {} : toAttempt(statusCode, after.state === 'ok', now.toISOString())),
    ...(responseMilliseconds === undefined ? {} : { answers: 1, answerMilliseconds: responseMilliseconds }),
  }
}

const toAttempt = (lastStatusCode: number, isSuccess: boolean, at: string): Partial<WebhookStatistics> => ({
  lastStatusCode,
  lastDeliveryTime: at,
  ...(isSuccess ? { lastSuccessTime: at, consecutiveFailures: 0 } : { lastFailureTime: at, failingSince: at, consecutiveFailures: 1 }),
})

/** Adds two counts. The last response is that of `more`; a success in `more` ends the consecutive failures of `sum`. */
export const addCounts = (sum: WebhookStatistics, more: WebhookStatistics): WebhookStatistics => ({
  ...sum,
  ...more,
  ...(more.failingSince === undefined ? {} : { failingSince: isSameRun(sum, more) ? sum.failingSince : more.failingSince }),
  total: sum.total + more.total,
  successful: sum.successful + more.successful,
  failed: sum.failed + more.failed,
  consecutiveFailures: (more.lastSuccessTime === undefined ? (sum.consecutiveFailures ?? 0) : 0) + (more.consecutiveFailures ?? 0),
  answers: (sum.answers ?? 0) + (more.answers ?? 0),
  answerMilliseconds: (sum.answerMilliseconds ?? 0) + (more.answerMilliseconds ?? 0),
})

/** True when the failures in `more` continue those in `sum`: no success between them, and no day without a failure. */
function isSameRun(sum: WebhookStatistics, { failingSince, lastSuccessTime }: WebhookStatistics): boolean {
  const { lastFailureTime, consecutiveFailures = 0 } = sum
  if (lastSuccessTime !== undefined || consecutiveFailures === 0) return false
  if (failingSince === undefined || lastFailureTime === undefined || sum.failingSince === undefined) return false
  return Date.parse(failingSince) - Date.parse(lastFailureTime) <= FAILURE_GAP_MILLISECONDS
}

type StatisticsDeps = Pick<TermDeps, 'clients' | 'reflectors' | 'now' | 'log'>

export class Statistics {
  readonly #deps: StatisticsDeps
  readonly #counts = new Map<string, WebhookStatistics>()

  constructor(deps: StatisticsDeps) {
    this.#deps = deps
  }

  /** Counts a change for the webhook with that key. */
  count(webhookKey: string, change: DeliveryStateChange): void {
    this.#counts.set(webhookKey, addCounts(this.#counts.get(webhookKey) ?? NOTHING, toCounts(change, this.#deps.now())))
  }

  /** Writes the counts. Counts that cannot be written are kept for the next flush. */
  async flush(): Promise<void> {
    const taken = [...this.#counts]
    this.#counts.clear()
    for (const [key, counts] of taken) await this.#write(key, counts)
  }

  async #write(key: string, counts: WebhookStatistics): Promise<void> {
    const { clients, reflectors, log } = this.#deps
    const webhook = reflectors.webhooks.lister.get(key)
    if (!webhook) return
    const statistics = addCounts(webhook.status?.statistics ?? NOTHING, counts)
    try {
      await patchStatus(clients.webhooks, webhook, { statistics })
    } catch (error) {
      this.#counts.set(key, addCounts(counts, this.#counts.get(key) ?? NOTHING))
      log.debug({ key, err: error }, 'statistics not written; will retry')
    }
  }
}
