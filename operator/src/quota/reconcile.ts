// rbac: tintype.dev/accounts list,watch
// rbac: tintype.dev/screenshots/status patch

// Reconciles one account at a time: its limits, and all known changes of its usage in one update. A new leader starts from the objects.

import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict } from '@tintype/crds/client/kube-error'
import { splitKey } from '@tintype/crds/client/kube-object'
import { mergePatch } from '@tintype/crds/client/patch'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { AccountUsage } from '@tintype/crds/kinds/account-usage'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import { retry } from '@tintype/crds/runtime/retry'
import { ConditionType, setCondition } from '@tintype/crds/schema/conditions'
import { lastUsedAt } from '@tintype/crds/usage/usage'
import type { Requeue } from '../controller/controller.ts'
import { RetryableError } from '../controller/errors.ts'
import { type QuotaContext, REFUND_INDEX } from './context.ts'
import { awaitsRefund, type Changes, type Decision, decide, isCharged, OPERATOR, type Settlement } from './decide.ts'
import { ensureUsage } from './ensure-usage.ts'
import { settle } from './settle.ts'

const MAX_ATTEMPTS = 6
const FULL_MILLISECONDS = 1_000
/** Reservations settled in one reconcile; each needs up to a hundred lookups. */
const MAX_SETTLEMENTS = 20
/** How long the refund of a Screenshot that no longer exists is remembered. */
const FORGET_MILLISECONDS = 3_600_000

export async function reconcile(key: string, context: QuotaContext): Promise<Requeue | undefined> {
  const { reflectors, charges } = context
  const { name } = splitKey(key)
  const account = reflectors.accounts.lister.get(key)
  const pending = charges.pendingOf(name)
  if (!account) {
    for (const each of pending) charges.resolve(name, each, 'missing')
    return undefined
  }
  const usage = await ensureUsage(account, reflectors.usages.lister.get(key), context)
  if (account.spec.suspended) for (const each of pending) charges.resolve(name, each, 'suspended')
  const wanted = account.spec.suspended ? [] : pending
  const settlements = await settleEnded(usage, context)
  const { written, outcomes } = await swap(usage, (current) => toChanges(key, current, wanted, settlements, context), context)
  wanted.forEach((each, index) => {
    const { granted = 0, refusal } = outcomes[index] ?? {}
    if (refusal !== 'full') charges.resolve(name, each, granted === 1 ? 'charged' : 'quota')
  })
  await markRefunded(written, context)
  // A usage object without room for another reservation does not reject the charge: a later update has room.
  return outcomes.some(({ refusal }) => refusal === 'full') ? { requeueAfterMilliseconds: FULL_MILLISECONDS } : undefined
}

function toChanges(
  key: string,
  { status }: AccountUsage,
  charges: Changes['charges'],
  settlements: readonly Settlement[],
  context: QuotaContext,
): Changes {
  const { namespace = '', name } = splitKey(key)
  const { lister } = context.reflectors.screenshots
  const find = (id: string) => lister.get(`${namespace}/${toObjectName(id)}`)
  const own = status?.reservations?.filter(({ gateway }) => gateway === OPERATOR) ?? []
  const pendingUids = new Set(charges.map(({ uid }) => uid))
  return {
    charges,
    settlements,
    refunds: lister.byIndex(REFUND_INDEX, name).map(({ metadata }) => screenshotIdOf(metadata)),
    // Deleted Screenshots may have been captured before, so they stay charged.
    drops: own.filter(({ id, names }) => !pendingUids.has(id) && isDone(lister.get(`${namespace}/${names[0]}`), id)).map(({ id }) => id),
    forget: (status?.refunds ?? []).filter((id) => isForgettable(id, find(id), context.now())),
  }
}

const isDone = (shot: Screenshot | undefined, uid: string): boolean => shot?.metadata.uid !== uid || isCharged(shot)

const isForgettable = (id: string, shot: Screenshot | undefined, now: Date): boolean =>
  shot ? !awaitsRefund(shot) : now.getTime() - createdAtOf(id).getTime() > FORGET_MILLISECONDS

async function settleEnded({ metadata, status }: AccountUsage, context: QuotaContext): Promise<Settlement[]> {
  const { liveness, recentNames, reflectors, metrics } = context
  const namespace = metadata.namespace
  const hasSeen = (name: string) => recentNames.has(name) || reflectors.screenshots.lister.has(`${namespace}/${name}`)
  const settlements: Settlement[] = []
  for (const reservation of status?.reservations ?? []) {
    if (settlements.length === MAX_SETTLEMENTS) break
    if (reservation.gateway === OPERATOR || !(await liveness.hasEnded(reservation.gateway, lastUsedAt(reservation)))) continue
    const settlement = await settle(metadata.name, reservation, { ...context, hasSeen })
    metrics.onSettled(settlement.neverMade.length)
    settlements.push(settlement)
  }
  return settlements
}

/** Repeats the decision and the write until no other writer interferes. */
async function swap(
  usage: AccountUsage,
  changesOf: (usage: AccountUsage) => Changes,
  { usages, reflectors, now, isLeader, metrics }: QuotaContext,
): Promise<Pick<Decision, 'outcomes'> & { written: AccountUsage }> {
  const write = async (attempt: number) => {
    const current = attempt === 1 ? usage : await usages.get(usage.metadata.name)
    if (!isLeader()) throw new RetryableError('leadership lost')
    const { status, outcomes } = decide(current, changesOf(current), now())
    if (!status) return { outcomes, written: current }
    const written = await usages.replaceStatus({ ...current, status }, { repeat: 'never' })
    reflectors.usages.observe(written)
    const before = new Set(current.status?.refunds)
    metrics.onRefunded((status.refunds ?? []).filter((id) => !before.has(id)).length)
    return { outcomes, written }
  }
  return retry(write, { delayOf: (error, attempt) => (isConflict(error) && attempt < MAX_ATTEMPTS ? 0 : undefined), wait: sleep })
}

/** The condition is written after the refund: after a crash in between, only the condition is written again. */
async function markRefunded({ metadata, status }: AccountUsage, { reflectors, screenshots, now }: QuotaContext): Promise<void> {
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
        message: 'Its unit of the monthly quota was refunded.',
      } as const
      const { name, resourceVersion } = shot.metadata
      const conditions = setCondition(shot.status?.conditions ?? [], condition, now())
      const patch = mergePatch({ status: { conditions } }, { resourceVersion })
      reflectors.screenshots.observe(await screenshots.patch(name, patch, { subresource: 'status' }))
    }),
  )
}
