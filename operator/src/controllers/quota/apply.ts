// rbac: tintype.dev/screenshots/status patch

import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict } from '@tintype/crds/client/kube-error'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { AccountUsage } from '@tintype/crds/kinds/account'
import { isReused } from '@tintype/crds/records/cache'
import { retry } from '@tintype/crds/runtime/retry'
import { ConditionType, setCondition } from '@tintype/crds/schema/conditions'
import { patchStatus } from '../../kube/patch-seen.ts'
import { type QuotaContext, REFUND_INDEX } from './context.ts'
import { type Changes, type Decision, decide } from './decide.ts'

const MAX_ATTEMPTS = 6

/**
 * Decides on the changes and writes the usage. Gateways write it too, so after a conflict both are repeated with the newer version.
 */
export async function applyChanges(
  usage: AccountUsage,
  changesOf: (usage: AccountUsage) => Changes,
  { clients, now, metrics }: QuotaContext,
): Promise<Pick<Decision, 'outcomes'> & { written: AccountUsage }> {
  const write = async (attempt: number) => {
    const current = attempt === 1 ? usage : await clients.usages.get(usage.metadata.name)
    const changes = changesOf(current)
    const { status, outcomes } = decide(current, changes, now())
    if (!status) return { outcomes, written: current }
    const written = await clients.usages.replaceStatus({ ...current, status }, { repeat: 'never' })
    const before = new Set(current.status?.refunds)
    const refunded = new Set((status.refunds ?? []).filter((id) => !before.has(id)))
    metrics.refundedUnits.inc(changes.refunds.filter(({ id }) => refunded.has(id)).reduce((sum, { units }) => sum + units, 0))
    return { outcomes, written }
  }
  return retry(write, { delayOf: (error, attempt) => (isConflict(error) && attempt < MAX_ATTEMPTS ? 0 : undefined), wait: sleep })
}

/** The condition is written after the refund: after a crash in between, only the condition is written again. */
export async function markRefunded({ metadata, status }: AccountUsage, { reflectors, clients, now }: QuotaContext): Promise<void> {
  const refunded = new Set(status?.refunds)
  const due = reflectors.screenshots.lister
    .byIndex(REFUND_INDEX, metadata.name)
    .filter((shot) => refunded.has(screenshotIdOf(shot.metadata)))
  await Promise.all(
    due.map(async (shot) => {
      const condition = {
        type: ConditionType.refunded,
        status: 'True',
        reason: isReused(shot) ? 'Cached' : 'CaptureFailed',
        message: 'Its units of the monthly quota were refunded.',
      } as const
      const conditions = setCondition(shot.status?.conditions ?? [], condition, now())
      await patchStatus(clients.screenshots, shot, { conditions })
    }),
  )
}
