// rbac: tintype.dev/accounts list,watch
// rbac: tintype.dev/screenshots/status patch

// One account at a time: its limits, and in one update of its count all that is known by then. Whoever leads next begins with the objects.

import { isConflict } from '@tintype/crds/client/kube-error'
import { splitKey } from '@tintype/crds/client/kube-object'
import { mergePatch } from '@tintype/crds/client/patch'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { AccountUsage } from '@tintype/crds/kinds/account-usage'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
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
/** Reservations that are looked into in one step; each asks for up to a hundred names. */
const SETTLE_AT_ONCE = 20
/** A refund of a Screenshot that is not here is remembered for so long. */
const FORGET_MILLISECONDS = 3_600_000

/** See the head of this file. */
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
  // No room to note a charge is no refusal: a later update has some.
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
  const asked = new Set(charges.map(({ uid }) => uid))
  return {
    charges,
    settlements,
    refunds: lister.byIndex(REFUND_INDEX, name).map(({ metadata }) => screenshotIdOf(metadata)),
    // One that is gone was perhaps captured before it went: it stays charged.
    drops: own.filter(({ id, names }) => !asked.has(id) && isDone(lister.get(`${namespace}/${names[0]}`), id)).map(({ id }) => id),
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
    if (settlements.length === SETTLE_AT_ONCE) break
    if (reservation.gateway === OPERATOR || !(await liveness.hasEnded(reservation.gateway, lastUsedAt(reservation)))) continue
    const settlement = await settle(metadata.name, reservation, { ...context, hasSeen })
    metrics.onSettled(settlement.neverMade.length)
    settlements.push(settlement)
  }
  return settlements
}

/** Decides and writes until no other writer came between. */
async function swap(
  usage: AccountUsage,
  changesOf: (usage: AccountUsage) => Changes,
  { usages, reflectors, now, isLeader, metrics }: QuotaContext,
): Promise<Pick<Decision, 'outcomes'> & { written: AccountUsage }> {
  let current = usage
  for (let attempt = 1; ; attempt++) {
    if (!isLeader()) throw new RetryableError('no longer the leader')
    const { status, outcomes } = decide(current, changesOf(current), now())
    if (!status) return { outcomes, written: current }
    try {
      const written = await usages.replaceStatus({ ...current, status }, { repeat: 'never' })
      reflectors.usages.observe(written)
      const before = new Set(current.status?.refunds)
      metrics.onRefunded((status.refunds ?? []).filter((id) => !before.has(id)).length)
      return { outcomes, written }
    } catch (error) {
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error
      current = await usages.get(usage.metadata.name)
    }
  }
}

/** The condition comes after the unit: a crash in between repeats the condition only. */
async function markRefunded({ metadata, status }: AccountUsage, { reflectors, screenshots, now }: QuotaContext): Promise<void> {
  const given = new Set(status?.refunds)
  const due = reflectors.screenshots.lister.byIndex(REFUND_INDEX, metadata.name).filter((shot) => given.has(screenshotIdOf(shot.metadata)))
  await Promise.all(
    due.map(async (shot) => {
      const condition = {
        type: ConditionType.refunded,
        status: 'True',
        reason: isReused(shot) ? 'Cached' : 'CaptureFailed',
        message: 'its unit of the monthly quota was given back',
      } as const
      const { name, resourceVersion } = shot.metadata
      const conditions = setCondition(shot.status?.conditions ?? [], condition, now())
      const patch = mergePatch({ status: { conditions } }, { resourceVersion })
      reflectors.screenshots.observe(await screenshots.patch(name, patch, { subresource: 'status' }))
    }),
  )
}
