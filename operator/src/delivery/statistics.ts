// Counters of webhooks, gathered in memory and written every few seconds: a write for each delivery would double what a delivery costs the
// API server. A crash loses the counts of the last seconds; the ledger, which is the truth, loses nothing.

import { isNotFound } from '@tintype/crds/client/kube-error'
import { splitKey } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import { mergePatch } from '@tintype/crds/client/patch'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import type { Webhook, WebhookStatistics } from '@tintype/crds/kinds/webhook'
import { isSettled, type LedgerChange } from './decide.ts'

type Counts = Required<Pick<WebhookStatistics, 'total' | 'successful' | 'failed'>> &
  Pick<WebhookStatistics, 'lastStatusCode' | 'lastDeliveryTime'>

const NOTHING: Counts = { total: 0, successful: 0, failed: 0 }

/** What a change of the ledger adds. A delivery counts once, however many attempts it takes. */
export function toCounts({ before, after, statusCode }: LedgerChange, now: Date): Counts {
  const settles = isSettled(after) && !isSettled(before)
  return {
    total: before === undefined ? 1 : 0,
    successful: settles && after.s === 'ok' ? 1 : 0,
    failed: settles && after.s === 'failed' ? 1 : 0,
    ...(statusCode === undefined ? {} : { lastStatusCode: statusCode, lastDeliveryTime: now.toISOString() }),
  }
}

/** Adds counts to counts; the later ones' last answer stands. */
export const addCounts = (sum: Counts, more: Counts): Counts => ({
  ...sum,
  ...more,
  total: sum.total + more.total,
  successful: sum.successful + more.successful,
  failed: sum.failed + more.failed,
})

export interface StatisticsDeps {
  store: Pick<Resource<Webhook>, 'patch'>
  webhooks: Pick<Reflector<Webhook>, 'observe' | 'lister'>
  now: () => Date
  log: Log
}

/** See the head of this file. */
export class Statistics {
  readonly #deps: StatisticsDeps
  readonly #counts = new Map<string, Counts>()

  constructor(deps: StatisticsDeps) {
    this.#deps = deps
  }

  /** Counts a change of the ledger for the webhook with that key. */
  count(webhookKey: string, change: LedgerChange): void {
    this.#counts.set(webhookKey, addCounts(this.#counts.get(webhookKey) ?? NOTHING, toCounts(change, this.#deps.now())))
  }

  /** Writes what was counted. What cannot be written now is kept for the next time. */
  async flush(): Promise<void> {
    const taken = [...this.#counts]
    this.#counts.clear()
    for (const [key, counts] of taken) await this.#write(key, counts)
  }

  async #write(key: string, counts: Counts): Promise<void> {
    const { store, webhooks, log } = this.#deps
    const webhook = webhooks.lister.get(key)
    if (!webhook) return
    const { name, namespace } = splitKey(key)
    const { resourceVersion } = webhook.metadata
    const statistics = addCounts(webhook.status?.statistics ?? NOTHING, counts)
    try {
      // The sum rests on what was read: another's write in between must not be lost.
      webhooks.observe(
        await store.patch(name, mergePatch({ status: { statistics } }, { resourceVersion }), { namespace, subresource: 'status' }),
      )
    } catch (error) {
      if (isNotFound(error)) return
      this.#counts.set(key, addCounts(counts, this.#counts.get(key) ?? NOTHING))
      log.debug({ key, err: error }, 'statistics are written later')
    }
  }
}
