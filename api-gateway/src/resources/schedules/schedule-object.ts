import { toObjectName } from '@tintype/crds/identifiers/names'
import type {
  ScheduleComparison,
  ScheduleTemplate,
  ScreenshotSchedule,
  ScreenshotScheduleSpec,
} from '@tintype/crds/kinds/screenshot-schedule'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import { applyMergePatch, toMergePatch } from '@tintype/crds/schema/merge-patch'
import { renameKeys, toCamelCase } from '@tintype/crds/text/words'
import { invalid } from '../../common/errors.ts'
import { definedOf } from '../../http/fields.ts'
import type { StoredOptions } from '../../options/store-options.ts'
import { type ObjectPatch, toUpdatedMetadata } from '../../store/object-patch.ts'
import { EVENTS_WITHOUT_URL } from '../screenshots/options/options-body.ts'
import { type CreateScheduleBody, findEventProblems, type UpdateScheduleBody } from './bodies.ts'
import { findComparisonProblems, toComparisonSpec } from './comparison.ts'
import { type MergedPage, mergePage } from './merge-page.ts'

/** A schedule that is not created yet. */
export interface NewSchedule {
  metadata: { name: string }
  spec: ScreenshotScheduleSpec
}

const toPolicy = { forbid: 'Forbid', allow: 'Allow' } as const

/** The fields of a spec. Null removes a field. */
function toTimingSpec({ concurrency_policy: policy, comparison, ...same }: Partial<UpdateScheduleBody['timing']>) {
  const translated = { concurrency_policy: policy && toPolicy[policy], comparison: comparison && toComparisonSpec(comparison) }
  return renameKeys(definedOf({ ...same, ...translated }), toCamelCase)
}

/** The object of a new schedule. */
export function buildSchedule(
  { timing, url, record }: Pick<CreateScheduleBody, 'timing' | 'url' | 'record'>,
  { id, accountName, stored }: { id: string; accountName: string; stored: StoredOptions },
): NewSchedule {
  return {
    metadata: { name: toObjectName(id) },
    spec: {
      accountName,
      ...(toTimingSpec(timing) as Partial<ScreenshotScheduleSpec>),
      schedule: timing.schedule,
      template: { url, ...record, ...stored },
    },
  }
}

/**
 * Merges a change into the page of the stored schedule. Undefined: the page and its options stay.
 * @throws ApiError VALIDATION_ERROR for what contradicts the schedule
 */
export function mergeSchedule(
  { page: changes, timing, record }: UpdateScheduleBody,
  { spec: { template, comparison: stored } }: Whole<Pick<ScreenshotSchedule, 'metadata' | 'spec'>>,
): MergedPage | undefined {
  const { page, problems: wrong = [] } = changes ? mergePage(template, changes) : {}
  if (wrong.length > 0) throw invalid(wrong)
  const options = page?.options ?? template.options
  const comparison =
    timing.comparison === undefined ? stored : applyMergePatch(stored, timing.comparison && toComparisonSpec(timing.comparison))
  const { webhookUrl, webhookEvents } = { ...template, ...record }
  const problems = [
    ...findComparisonProblems((comparison as ScheduleComparison | null) ?? undefined, options),
    ...(changes || record.webhookEvents ? findEventProblems(webhookEvents, options?.format) : []),
    ...(record.webhookEvents && !webhookUrl ? [EVENTS_WITHOUT_URL] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  return page
}

/** The stored options if hidden ones stay. */
export const keepHidden = ({ sealedOptions, optionsObject, hiddenOptions }: ScheduleTemplate, options: CaptureOptions): StoredOptions => ({
  ...definedOf({ sealedOptions, optionsObject, hiddenOptions }),
  ...(Object.keys(options).length > 0 ? { options } : {}),
})

const optionFieldsOf = ({ options, sealedOptions, optionsObject, hiddenOptions }: StoredOptions) => ({
  options,
  sealedOptions,
  optionsObject,
  hiddenOptions,
})

/**
 * The patch for an update.
 * @param page the URL and the options of the merged page; absent: unchanged
 */
export function toSchedulePatch(
  { timing, record }: UpdateScheduleBody,
  { spec: { template } }: Whole<Pick<ScreenshotSchedule, 'metadata' | 'spec'>>,
  { page, now }: { page?: { url: string; stored: StoredOptions } | undefined; now: Date },
): ObjectPatch {
  const changed = page && { url: page.url, ...toMergePatch(optionFieldsOf(template), optionFieldsOf(page.stored)) }
  return { metadata: toUpdatedMetadata(now), spec: { ...toTimingSpec(timing), template: { ...record, ...changed } } }
}
