import { toObjectName } from '@tintype/crds/identifiers/names'
import type {
  ScheduleComparison,
  SchedulePolicy,
  ScheduleTemplate,
  ScreenshotSchedule,
  ScreenshotScheduleSpec,
} from '@tintype/crds/kinds/screenshot-schedule'
import { CaptureOptions, captureDefaults } from '@tintype/crds/options/catalog'
import { MARKUP_URL } from '@tintype/crds/options/page/loading'
import { CODE_OPTIONS } from '@tintype/crds/options/policy'
import { areInline, type PrivateOptions, privateOptionNames, splitLarge } from '@tintype/crds/options/private'
import type { Scheduled } from '@tintype/crds/policies/runs'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import { applyMergePatch, toMergePatch } from '@tintype/crds/schema/merge-patch'
import { renameKeys, toCamelCase, toSnakeCase } from '@tintype/crds/text/words'
import { invalid, type Problem } from '../../common/errors.ts'
import { definedOf } from '../../http/fields.ts'
import type { StoredOptions } from '../../options/store-options.ts'
import { type ObjectPatch, toUpdatedMetadata } from '../../store/ports.ts'
import { EVENTS_WITHOUT_URL, findOptionProblems } from '../screenshots/options/options-body.ts'
import { type CreateScheduleBody, findEventProblems, type PageChanges, type UpdateScheduleBody } from './bodies.ts'
import { findComparisonProblems, toComparisonSpec } from './comparison.ts'

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
  { id, accountName, stored, capturePolicy }: { id: string; accountName: string; stored: StoredOptions; capturePolicy: SchedulePolicy },
): NewSchedule {
  return {
    metadata: { name: toObjectName(id) },
    spec: {
      accountName,
      ...(toTimingSpec(timing) as Partial<ScreenshotScheduleSpec>),
      schedule: timing.schedule,
      template: { url, ...record, ...stored, capturePolicy },
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

/**
 * What a capture policy decides about after a change. Undefined: the change leaves it as it is.
 * @param page the merged page; absent: unchanged
 */
export function toPoliced(
  { timing, record, page: changes }: UpdateScheduleBody,
  { spec }: Pick<ScreenshotSchedule, 'spec'>,
  { page, policy }: { page?: MergedPage | undefined; policy: SchedulePolicy | undefined },
): Scheduled | undefined {
  if (!changes && !timing.comparison && Object.keys(record).length === 0) return undefined
  const { capturePolicy: _, ...template } = applyMergePatch(spec.template, record) as ScheduleTemplate
  const hidden = page?.privateOptions && { hiddenOptions: Object.keys(page.privateOptions) }
  const merged = { ...template, ...(page ? { url: page.url, options: page.options } : {}), ...hidden }
  const comparison = timing.comparison === undefined ? spec.comparison : timing.comparison
  return { spec: { comparison, template: policy ? { ...merged, capturePolicy: policy } : merged } }
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
 * @param policy the capture policy after the change; undefined: none
 */
export function toSchedulePatch(
  { timing, record }: UpdateScheduleBody,
  { spec: { template } }: Whole<Pick<ScreenshotSchedule, 'metadata' | 'spec'>>,
  { page, policy, now }: { page?: { url: string; stored: StoredOptions } | undefined; policy: SchedulePolicy | undefined; now: Date },
): ObjectPatch {
  const changed = page && { url: page.url, ...toMergePatch(optionFieldsOf(template), optionFieldsOf(page.stored)) }
  const limits = toMergePatch({ capturePolicy: template.capturePolicy }, { capturePolicy: policy })
  return { metadata: toUpdatedMetadata(now), spec: { ...toTimingSpec(timing), template: { ...record, ...changed, ...limits } } }
}

// Merges a change into the page and the options of a schedule. The gateway cannot read hidden options: private ones, and large ones in the bucket. It
// keeps them as they are stored, or replaces them all.

/** The page of a schedule after a change. */
export interface MergedPage {
  url: string
  /** Without hidden options that stay. */
  options: CaptureOptions
  /** All private options. Undefined: hidden options stay as they are stored. */
  privateOptions?: PrivateOptions
}

const isPrivate = (name: string): boolean => privateOptionNames.includes(name)
const toField = (name: string): string => `options.${toSnakeCase(name)}`
const isMarkup = (name: string): boolean => name === 'html' || name === 'markdown'

/** Merges a change. If there are problems, the page is not usable. */
function mergePage(template: ScheduleTemplate, changes: PageChanges): { page: MergedPage; problems: Problem[] } {
  const { options: stored = {}, hiddenOptions: hidden = [] } = template
  const { set, privateOptions } = changes
  const removed = changes.removed === 'all' ? [...Object.keys(stored), ...hidden] : changes.removed
  const named = [...Object.keys(set), ...Object.keys(privateOptions), ...removed]
  /** Hidden options that the change does not name. */
  const missing = hidden.filter((name) => !named.includes(name))
  const options: CaptureOptions = applyMergePatch(stored, { ...set, ...fill(removed, null) }) as CaptureOptions
  const present = { ...fill(missing, true), ...options }
  const { url, problem } = toUrl(template, changes, Object.keys(present).find(isMarkup), options)
  const reason = missing.length === 0 ? undefined : findReason({ template, changes, named, missing, options, url })
  const page = { url, options, ...(missing.length === 0 ? { privateOptions } : {}) }
  if (problem) return { page, problems: [problem] }
  if (reason) return { page, problems: [toProblem(reason, missing)] }
  // The operator checks the values of hidden options.
  return { page, problems: [...(set.mediaFeatures ? findMapProblems(options) : []), ...findOptionProblems(present, privateOptions)] }
}

const fill = (names: readonly string[], value: unknown): Record<string, unknown> => Object.fromEntries(names.map((name) => [name, value]))

/** The URL that the runs load. A page in the options has its base URL, or a fixed one. */
function toUrl(
  template: ScheduleTemplate,
  { url, baseUrl }: PageChanges,
  markup: string | undefined,
  options: CaptureOptions,
): { url: string; problem?: Problem } {
  const refuse = (code: Problem['code'], message: string) => ({ url: '', problem: { path: 'url', code, message } })
  if (markup === undefined) {
    if (typeof url === 'string') return { url }
    const hadMarkup = [...(template.hiddenOptions ?? []), ...Object.keys(template.options ?? {})].some(isMarkup)
    if (url === undefined && !hadMarkup) return { url: template.url }
    return refuse('required', 'url is required, unless options has html or markdown')
  }
  if (typeof url === 'string')
    return refuse('contradiction', `url and ${markup} exclude each other: leave url out, or remove ${markup} with null`)
  return { url: baseUrl ?? (options.htmlBaseUrl === undefined ? MARKUP_URL : template.url) }
}

/** Why a change needs all hidden options. */
interface Reason {
  path: string
  text: string
}

interface Merged {
  template: ScheduleTemplate
  changes: PageChanges
  named: readonly string[]
  missing: readonly string[]
  options: CaptureOptions
  url: string
}

const OF_PROXY = ['proxyUsername', 'proxyPassword']
const OF_STORE = ['storageAccessKeyId', 'storageSecretAccessKey']
/** Private options that the page gets. */
const OF_PAGE = privateOptionNames.filter((name) => ![...OF_PROXY, ...OF_STORE].includes(name))

/** Options that decide who receives private options, beside the URL. A proxy reads what pages get without TLS, and anybody on the way without checks of it. */
const SECRETS_OF: readonly (readonly [option: keyof CaptureOptions, secrets: readonly string[]])[] = [
  ['proxy', [...OF_PROXY, ...OF_PAGE]],
  ['storageEndpoint', OF_STORE],
  ['headersScope', ['headers', 'authorization']],
  ['ignoreHttpsErrors', OF_PAGE],
]

const isNew = (option: keyof CaptureOptions, { set }: PageChanges, { options = {} }: ScheduleTemplate): boolean =>
  set[option] !== undefined && JSON.stringify(set[option]) !== JSON.stringify(options[option])

/** True for a new value, unless it is one that protects more. */
const isRisk = (option: keyof CaptureOptions, changes: PageChanges, template: ScheduleTemplate): boolean =>
  isNew(option, changes, template) && changes.set[option] !== captureDefaults.headersScope && changes.set[option] !== false

function findReason({ template, changes, named, missing, options, url }: Merged): Reason | undefined {
  const { hiddenOptions: hidden = [] } = template
  if (url !== template.url && missing.some(isPrivate))
    return { path: typeof changes.url === 'string' ? 'url' : 'options', text: 'the private options are encrypted for the present url' }
  const replaced = named.find((name) => hidden.includes(name) || name in changes.privateOptions)
  if (replaced !== undefined) return { path: toField(replaced), text: 'the hidden options are stored as one encrypted text' }
  const secret = SECRETS_OF.find(([option, secrets]) => isRisk(option, changes, template) && secrets.some((name) => missing.includes(name)))
  const isReadable = missing.some((name) => OF_PAGE.includes(name))
  const code = isReadable ? CODE_OPTIONS.find((option) => isRisk(option as keyof CaptureOptions, changes, template)) : undefined
  if (code !== undefined) return { path: toField(code), text: `${toSnakeCase(code)} could show the private options` }
  if (secret) return { path: toField(secret[0]), text: `${toSnakeCase(secret[0])} decides who can read the private options` }
  if (!areInline(options) && Object.keys(splitLarge(options).large).length > 0)
    return { path: 'options', text: 'the options are larger than 8 KiB, so all of them are encrypted' }
  return undefined
}

function toProblem({ path, text }: Reason, missing: readonly string[]): Problem {
  const names = missing.map(toField).join(', ')
  return { path, code: 'contradiction', message: `${text}: give ${names} too, or null for what you no longer need` }
}

/** A map can have too many entries after the merge. */
function findMapProblems({ mediaFeatures }: CaptureOptions): Problem[] {
  const { error } = CaptureOptions.shape.mediaFeatures.safeParse(mediaFeatures)
  return (error?.issues ?? []).map(({ message }) => ({
    path: 'options.media_features',
    code: 'too_big',
    message: `options.media_features ${message}`,
  }))
}
