// Decides which records are archived now. Pure.

import { Annotation } from '@tintype/crds/identifiers/names'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { isRestored } from '@tintype/crds/records/named-record'
import { awaitsRefund } from '../quota/decide.ts'

/** Limits for the age and number of live records. */
export interface RetentionSettings {
  liveMinimumMilliseconds: number
  liveForMilliseconds: number
  /** Number of finished records above which the oldest are archived early. */
  maxLive: number
}

export interface Observed {
  /** All finished Screenshots. */
  finished: readonly Screenshot[]
  /** Start of this leader's term. Before it, there may have been no leader to refund. */
  termStart: Date
}

/** Time after its end for which a pending refund delays the archiving of a record. */
const REFUND_MILLISECONDS = 3_600_000
/** Share of `liveFor` that a record may stay longer, so that one segment contains many records. */
const SLACK = 1 / 12
/** With this many due records, they are archived without waiting for more. */
const ENOUGH = 1_000
/** Maximum number of records per pass. The next pass follows at once. */
const MAX_BATCH = 5_000
/** Share of `maxLive` that is archived in addition when `maxLive` is exceeded, so that not every new record archives an old one. */
const ROOM = 1 / 10

interface Candidate {
  screenshot: Screenshot
  endedAt: number
}

/** Returns the records to archive, earliest end first. */
export function decide({ finished, termStart }: Observed, settings: RetentionSettings, now: Date): Screenshot[] {
  const mayLeave = ({ screenshot, endedAt }: Candidate): boolean => {
    const hasWaited = now.getTime() - Math.max(endedAt, termStart.getTime()) >= REFUND_MILLISECONDS
    return hasWaited || !awaitsRefund(screenshot)
  }
  const eligible = finished
    .filter((screenshot) => isFinished(screenshot) && !isBeingDeleted(screenshot))
    .map((screenshot) => ({ screenshot, endedAt: endOf(screenshot) }))
    .filter(({ endedAt }) => now.getTime() - endedAt >= settings.liveMinimumMilliseconds)
    .sort((a, b) => a.endedAt - b.endedAt)
  const excess = countExcess(finished.length, settings)
  // A restored Screenshot stays, because it would be applied again. It is removed only to make room.
  const removable = excess > 0 ? eligible : eligible.filter(({ screenshot }) => !isRestored(screenshot))
  const wanted = Math.max(countAged(removable, settings, now), excess)
  const chosen: Screenshot[] = []
  for (const candidate of removable) {
    if (chosen.length >= Math.min(wanted, MAX_BATCH)) break
    if (mayLeave(candidate)) chosen.push(candidate.screenshot)
  }
  return chosen
}

/** True when {@link decide} reached the batch limit. */
export const isFullBatch = (chosen: readonly Screenshot[]): boolean => chosen.length >= MAX_BATCH

function countAged(eligible: readonly Candidate[], { liveForMilliseconds }: RetentionSettings, now: Date): number {
  const ages = eligible.map(({ endedAt }) => now.getTime() - endedAt)
  const aged = ages.filter((age) => age >= liveForMilliseconds).length
  const isLate = (ages[0] ?? 0) >= liveForMilliseconds * (1 + SLACK)
  return isLate || aged >= ENOUGH ? aged : 0
}

const countExcess = (count: number, { maxLive }: RetentionSettings): number =>
  count <= maxLive ? 0 : count - maxLive + Math.floor(maxLive * ROOM)

const endOf = (screenshot: Screenshot): number => {
  const { status, metadata } = screenshot
  return Date.parse((isRestored(screenshot) ? undefined : status?.completionTime) ?? metadata.creationTimestamp)
}

const isBeingDeleted = ({ metadata }: Screenshot): boolean =>
  metadata.deletionTimestamp !== undefined || metadata.annotations?.[Annotation.deleteRequested] !== undefined
