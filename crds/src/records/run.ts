import { z } from 'zod'
import { createdAtOf, derivedId, isScreenshotId, scheduleIdOf } from '../identifiers/ids.ts'
import type { CapturePolicySpec } from '../kinds/capture-policy.ts'
import { MAX_SHORT_RUNS, type MovingParts, UnfitReason } from '../kinds/comparison.ts'
import type { KeptBaseline, Screenshot, ScreenshotSpec } from '../kinds/screenshot.ts'
import { RunOutcome, type ScheduleBaseline, type StoredSchedule } from '../kinds/screenshot-schedule.ts'
import type { CaptureOptions } from '../options/catalog.ts'
import { toRunPolicy } from '../policies/runs.ts'
import { ConditionType, findCondition } from '../schema/conditions.ts'
import type { Whole } from '../schema/custom-resource.ts'
import { replaceMisleading } from '../text/misleading-name.ts'
import { type IgnoreReason, isFuture, parseStoredJson } from './ignored-objects.ts'
import { accountOf } from './record.ts'
import { baselineKey } from './storage-keys.ts'

// Runs of schedules: their Screenshots, and ended runs as they are stored in the bucket.

export const StoredRun = z.object({
  version: z.literal(1),
  /** Id of the Screenshot. */
  id: z.string().refine(isScreenshotId),
  /** Time at which the run was due. */
  time: z.iso.datetime(),
  outcome: RunOutcome,
  completionTime: z.iso.datetime().optional(),
  /** Error code of a failed capture. */
  code: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/)
    .optional(),
  /** Present if the picture was compared. */
  changed: z.boolean().optional(),
  /** Changed pixels as a share of all pixels. */
  changedRatio: z.number().min(0).max(1).optional(),
  /** Why the picture was not compared. */
  unfit: UnfitReason.optional(),
})
export type StoredRun = z.infer<typeof StoredRun>

/** Reads the run of a key, or returns why it counts as absent. */
export function readRun(text: string, id: string, now: Date): StoredRun | IgnoreReason {
  const { data } = StoredRun.safeParse(parseStoredJson(text))
  if (!data) return 'content'
  if (data.id !== id) return 'id'
  return isFuture(createdAtOf(id), now) || isFuture(new Date(data.time), now) ? 'time' : data
}

/**
 * Id of the Screenshot of a run that was due at a time. It depends on nothing else, so that every leader creates the same Screenshot and a
 * run is never captured twice.
 */
export const runIdOf = (scheduleUid: string, time: Date): string => derivedId('scr', time, `${scheduleUid} ${time.toISOString()}`)

/** Time at which a run was due. */
export const timeOfRun = ({ metadata, spec }: Pick<Screenshot, 'metadata' | 'spec'>): string =>
  spec.scheduleRef?.time ?? metadata.creationTimestamp

/** The picture that the next run of a schedule is compared with; undefined: there is none, or it belongs to another account. */
export function baselineOf({ metadata, spec, status }: StoredSchedule): ScheduleBaseline | undefined {
  const { baseline } = status ?? {}
  const isOwn = baseline !== undefined && baseline.key === baselineKey(accountOf({ spec }), metadata.uid, baseline.id)
  return spec.comparison && isOwn ? baseline : undefined
}

/**
 * The spec of the Screenshot of a run that was due at a time. It names the picture to compare with.
 * @param current the capture policy that the schedule's key has now
 */
export function toRunSpec(schedule: Whole<StoredSchedule>, time: Date, current?: CapturePolicySpec): ScreenshotSpec {
  const { metadata, spec } = schedule
  const { options, attachmentName, capturePolicy: kept, ...template } = spec.template
  const capturePolicy = toRunPolicy(kept, current)
  const baseline = baselineOf(schedule)
  const merged = { ...options, ...toCompareOptions(schedule, baseline) }
  return {
    ...template,
    // The API server refuses such a name in a new Screenshot. Schedules of earlier versions can have one.
    ...(attachmentName === undefined ? {} : { attachmentName: replaceMisleading(attachmentName) }),
    ...(Object.keys(merged).length > 0 ? { options: merged } : {}),
    ...(baseline ? { baseline: toKept(baseline) } : {}),
    ...(capturePolicy ? { capturePolicy } : {}),
    accountName: accountOf({ spec }),
    scheduleRef: {
      ...{ name: metadata.name, uid: metadata.uid, id: scheduleIdOf(metadata), time: time.toISOString() },
      ...(spec.comparison ? { wasFit: findCondition(schedule.status?.conditions, ConditionType.fit)?.status !== 'False' } : {}),
      ...toMoving(schedule),
    },
  }
}

/** What the run need not wait for. Now and then a run waits for everything, because the page may rest again. */
function toMoving({ spec, status }: StoredSchedule): { moving?: MovingParts } {
  const { moving } = status ?? {}
  return spec.comparison && moving && (moving.runs ?? 0) < MAX_SHORT_RUNS ? { moving } : {}
}

const toKept = ({ id: _, time: __, ...kept }: ScheduleBaseline): KeptBaseline => kept

/** A run without an earlier picture compares nothing, but stores the areas to ignore, and its text. */
function toCompareOptions({ spec }: StoredSchedule, baseline: ScheduleBaseline | undefined): CaptureOptions {
  const { threshold, colorTolerance, antialiasing, ignore = [], acceptStatus = [] } = spec.comparison ?? {}
  return {
    ...(ignore.length > 0 ? { compareIgnore: ignore } : {}),
    ...(acceptStatus.length > 0 ? { compareAcceptStatus: acceptStatus } : {}),
    // A later run compares its words with those of this one.
    ...(spec.comparison && !baseline ? { saveText: true } : {}),
    ...(baseline
      ? {
          compareTo: baseline.id,
          ...(threshold === undefined ? {} : { compareThreshold: threshold }),
          ...(colorTolerance === undefined ? {} : { compareColorTolerance: colorTolerance }),
          ...(antialiasing === undefined ? {} : { compareAntialiasing: antialiasing }),
        }
      : {}),
  }
}
