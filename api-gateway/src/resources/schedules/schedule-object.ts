import { toObjectName } from '@tintype/crds/identifiers/names'
import type { ScreenshotSchedule, ScreenshotScheduleSpec } from '@tintype/crds/kinds/screenshot-schedule'
import { MARKUP_URL } from '@tintype/crds/options/page/source'
import { invalid, type Problem } from '../../common/errors.ts'
import type { StoredOptions } from '../../options/store-options.ts'
import { type ObjectPatch, toUpdatedMetadata } from '../../store/object-patch.ts'
import type { CreateScheduleBody, UpdateScheduleBody } from './bodies.ts'
import { findComparisonProblems, toComparisonSpec } from './comparison.ts'

/** A schedule that is not created yet. */
export interface NewSchedule {
  metadata: { name: string }
  spec: ScreenshotScheduleSpec
}

const toPolicy = { forbid: 'Forbid', allow: 'Allow' } as const

const definedOf = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as { [K in keyof T]: NonNullable<T[K]> }

/** The fields of a spec. Null removes a field. */
function toTimingSpec(timing: Partial<UpdateScheduleBody['timing']>) {
  const { name, schedule, time_zone, suspend, concurrency_policy, starting_deadline_seconds, spread_seconds, comparison } = timing
  return definedOf({
    name,
    schedule,
    timeZone: time_zone,
    suspend,
    concurrencyPolicy: concurrency_policy && toPolicy[concurrency_policy],
    startingDeadlineSeconds: starting_deadline_seconds,
    spreadSeconds: spread_seconds,
    comparison: comparison && toComparisonSpec(comparison),
  })
}

/** The object of a new schedule. */
export function buildSchedule(
  { timing, url, record }: Pick<CreateScheduleBody, 'timing' | 'url' | 'record'>,
  { id, accountName, stored }: { id: string; accountName: string; stored: StoredOptions },
): NewSchedule {
  return {
    metadata: { name: toObjectName(id) },
    spec: { accountName, ...toTimingSpec(timing), schedule: timing.schedule, template: { url, ...record, ...stored } },
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A merge patch that replaces a value: fields that only the old one has are removed. */
function toReplacement(old: unknown, next: unknown): unknown {
  if (!isObject(old) || !isObject(next)) return next ?? null
  const removed = Object.keys(old).filter((field) => !(field in next))
  const kept = Object.entries(next).map(([field, value]) => [field, toReplacement(old[field], value)])
  return Object.fromEntries([...removed.map((field) => [field, null]), ...kept])
}

const OPTION_FIELDS = ['options', 'sealedOptions', 'optionsObject', 'hiddenOptions'] as const

/**
 * The patch for an update.
 * @param stored the options that replace all earlier ones; absent: unchanged
 */
export function toSchedulePatch(
  { timing, url, record }: UpdateScheduleBody,
  { spec: { template, comparison } }: Pick<ScreenshotSchedule, 'spec'>,
  { stored, now }: { stored?: StoredOptions | undefined; now: Date },
): ObjectPatch {
  const options = stored && Object.fromEntries(OPTION_FIELDS.map((field) => [field, toReplacement(template[field], stored[field])]))
  return {
    metadata: toUpdatedMetadata(now),
    spec: {
      ...toTimingSpec(timing),
      ...(timing.comparison ? { comparison: toReplacement(comparison, toComparisonSpec(timing.comparison)) } : {}),
      template: { ...(url === undefined ? {} : { url }), ...record, ...options },
    },
  }
}

/** Finds what contradicts the stored schedule. @throws ApiError VALIDATION_ERROR */
export function assertChangeable({ url, replaced, timing }: UpdateScheduleBody, { spec }: Pick<ScreenshotSchedule, 'spec'>): void {
  const { template } = spec
  const compared = timing.comparison === undefined ? spec.comparison : timing.comparison && toComparisonSpec(timing.comparison)
  const problems: Problem[] = findComparisonProblems(compared ?? undefined, replaced?.options ?? template.options)
  if (url !== undefined && url !== template.url && !replaced) {
    if (template.sealedOptions !== undefined) problems.push(needsOptions('the private options are encrypted for the present url'))
    else if (hasMarkup(template)) problems.push(needsOptions('the page is in options.html or options.markdown'))
  }
  if (url === undefined && replaced && template.url === MARKUP_URL)
    problems.push({ path: 'url', code: 'required', message: 'url is required, unless options has html or markdown' })
  if (problems.length > 0) throw invalid(problems)
}

const hasMarkup = ({ url, options, hiddenOptions = [] }: ScreenshotScheduleSpec['template']): boolean =>
  url === MARKUP_URL ||
  ['html', 'markdown'].some((option) => hiddenOptions.includes(option) || (options !== undefined && option in options))

const needsOptions = (reason: string): Problem => ({
  path: 'url',
  code: 'contradiction',
  message: `${reason}: send all options too`,
})
