// Which records leave the Kubernetes API now. Pure.

import { Annotation } from '@tintype/crds/identifiers/names'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { isReused } from '@tintype/crds/records/cache'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { findDefaultWebhook, REQUEST_WEBHOOK } from '@tintype/crds/webhooks/request-webhook'
import { isSettled } from '../delivery/controller/decide.ts'
import type { FollowsStart } from '../delivery/events/event-order.ts'
import { isReceiver, isRequestReceiver, toOccurrences } from '../delivery/events/receivers.ts'

/** How long records stay, and how many. */
export interface RetentionSettings {
  liveMinimumMilliseconds: number
  liveForMilliseconds: number
  /** Finished records beyond which the oldest leave before their time. */
  maxLive: number
  /** What is owed for a record holds it back for so long after its end, an hour at least. */
  patienceMilliseconds?: number
}

export interface Observed {
  /** All that are finished. */
  finished: readonly Screenshot[]
  /** The webhooks of an account. */
  webhooksOf: (screenshot: Screenshot) => readonly Webhook[]
  /** Tells what came after a webhook's start; absent: the times in the objects do. */
  followsStart?: FollowsStart | undefined
  /** When this leader's term began: before it nobody may have delivered or refunded. */
  termStart: Date
}

/** No longer than that, or than a delivery takes by its schedule: one receiver must not fill the Kubernetes API for all. */
const PATIENCE_MILLISECONDS = 3_600_000
/** The part of `liveFor` that a record may stay longer, so that one segment holds many. */
const SLACK = 1 / 12
/** With so many due, none waits for more. */
const ENOUGH = 1_000
/** Records of one pass, at most: the next follows at once. */
const MAX_BATCH = 5_000
/** The part of `maxLive` by which the number is lowered once it is passed, so that not every new record archives an old one. */
const ROOM = 1 / 10

interface Candidate {
  screenshot: Screenshot
  endedAt: number
}

/** The records to archive, those that ended first before others. */
export function decide({ finished, webhooksOf, followsStart, termStart }: Observed, settings: RetentionSettings, now: Date): Screenshot[] {
  const isFree = ({ screenshot, endedAt }: Candidate): boolean => {
    const hasWaited =
      now.getTime() - Math.max(endedAt, termStart.getTime()) >= Math.max(PATIENCE_MILLISECONDS, settings.patienceMilliseconds ?? 0)
    return hasWaited || !isOwed(screenshot, webhooksOf(screenshot), followsStart)
  }
  const eligible = finished
    .filter((screenshot) => isFinished(screenshot) && !isBeingDeleted(screenshot))
    .map((screenshot) => ({ screenshot, endedAt: endOf(screenshot) }))
    .filter(({ endedAt }) => now.getTime() - endedAt >= settings.liveMinimumMilliseconds)
    .sort((a, b) => a.endedAt - b.endedAt)
  const wanted = Math.max(countAged(eligible, settings, now), countExcess(finished.length, settings))
  const chosen: Screenshot[] = []
  for (const candidate of eligible) {
    if (chosen.length >= Math.min(wanted, MAX_BATCH)) break
    if (isFree(candidate)) chosen.push(candidate.screenshot)
  }
  return chosen
}

/** True when {@link decide} stopped before its end. */
export const isFullBatch = (chosen: readonly Screenshot[]): boolean => chosen.length >= MAX_BATCH

function countAged(eligible: readonly Candidate[], { liveForMilliseconds }: RetentionSettings, now: Date): number {
  const ages = eligible.map(({ endedAt }) => now.getTime() - endedAt)
  const aged = ages.filter((age) => age >= liveForMilliseconds).length
  const isLate = (ages[0] ?? 0) >= liveForMilliseconds * (1 + SLACK)
  return isLate || aged >= ENOUGH ? aged : 0
}

const countExcess = (count: number, { maxLive }: RetentionSettings): number =>
  count <= maxLive ? 0 : count - maxLive + Math.floor(maxLive * ROOM)

const endOf = ({ status, metadata }: Screenshot): number => Date.parse(status?.completionTime ?? metadata.creationTimestamp)

const isBeingDeleted = ({ metadata }: Screenshot): boolean =>
  metadata.deletionTimestamp !== undefined || metadata.annotations?.[Annotation.deleteRequested] !== undefined

/** True while an event is to be delivered, or a unit of quota to be given back. */
export function isOwed(screenshot: Screenshot, webhooks: readonly Webhook[], followsStart?: FollowsStart): boolean {
  return isRefundDue(screenshot) || hasUnsettled(screenshot) || isAwaited(screenshot, webhooks, followsStart)
}

const hasUnsettled = ({ status }: Screenshot): boolean =>
  Object.values(status?.deliveries ?? {}).some((entries) => Object.values(entries).some((entry) => !isSettled(entry)))

/** A first attempt leaves no trace before it has ended: whoever is to be told must be in status.deliveries. */
const isAwaited = (screenshot: Screenshot, webhooks: readonly Webhook[], followsStart?: FollowsStart): boolean =>
  toOccurrences(screenshot, followsStart).some((occurrence) => {
    const known = screenshot.status?.deliveries?.[occurrence.event] ?? {}
    const isForRequestUrl = isRequestReceiver(screenshot, occurrence, findDefaultWebhook(webhooks))
    if (isForRequestUrl && !known[REQUEST_WEBHOOK]) return true
    return webhooks.some((hook) => isReceiver(hook, occurrence) && !known[hook.metadata.name])
  })

function isRefundDue({ spec, status }: Screenshot): boolean {
  if (status?.phase !== 'Failed' && !isReused({ spec, status })) return false
  const isCharged = spec.reservation !== undefined || findCondition(status?.conditions, ConditionType.charged)?.status === 'True'
  return isCharged && findCondition(status?.conditions, ConditionType.refunded) === undefined
}
