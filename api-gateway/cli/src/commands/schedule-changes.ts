import type { Schedule, ScheduleChanges, ScreenshotFields } from '../../../client/src/index.ts'
import { type Flag, toFlagName, toOptionName } from '../arguments/flag.ts'
import type { Parsed } from '../arguments/parse.ts'
import { UsageError } from '../common/errors.ts'
import { suggestion } from '../common/nearest.ts'

// The changes of `schedules update`. The API replaces options and comparison as a whole, but a command changes only what it names. So the changes start
// from the schedule.

type Fields = Record<string, unknown>

/** Capture flags that are fields of the schedule. */
const RECORD_FIELDS = {
  external_identifier: true,
  attachment_name: true,
  download_url_ttl: true,
  retention_days: true,
  webhook_url: true,
  webhook_events: true,
} as const satisfies Record<Exclude<keyof ScreenshotFields, 'url'>, true>

/** Flags of comparisons by their field in `comparison`. */
export const COMPARISON_FIELDS = {
  compare_threshold: 'threshold',
  compare_color_tolerance: 'color_tolerance',
  compare_antialiasing: 'antialiasing',
  compare_ignore: 'ignore',
  compare_accept_status: 'accept_status',
  compare_approve_first: 'approve_first',
} as const

const isRecordField = (name: string): boolean => Object.hasOwn(RECORD_FIELDS, name)
const isComparisonField = (name: string): name is keyof typeof COMPARISON_FIELDS => Object.hasOwn(COMPARISON_FIELDS, name)

/** What the flags of a command change, by names in the API. */
interface Named {
  /** Fields of the schedule, with null for a default. */
  fields: Fields
  /** Settings of the comparison. Undefined restores a default; the whole comparison is null to end it. */
  comparison: Fields | null
  /** Options of the capture. Undefined restores a default. */
  options: Fields
}

/** Flags that always have a value. */
const WITHOUT_DEFAULT: ReadonlySet<string> = new Set(['schedule', 'url', 'reset'])

/** Names in `--reset`. @throws UsageError for an unknown one */
function readResets(resets: readonly string[], flags: readonly Flag[]): string[] {
  const known = flags.map(({ name }) => name).filter((name) => !WITHOUT_DEFAULT.has(name))
  return resets.map((text) => {
    const name = toFlagName(text.replace(/^--/, ''))
    if (known.includes(name)) return toOptionName(name)
    throw new UsageError(`--reset ${text} names no option with a default.${suggestion(name, known) || ' Write --reset full-page.'}`)
  })
}

function sortChanges(changes: Fields, timing: ReadonlySet<string>): Named {
  const named: Named = { fields: {}, comparison: {}, options: {} }
  const settings: Fields = {}
  for (const [name, value] of Object.entries(changes)) {
    if (name === 'compare') settings.baseline = value
    else if (isComparisonField(name)) settings[COMPARISON_FIELDS[name]] = value
    else if (timing.has(name) || isRecordField(name)) named.fields[name] = value ?? null
    else named.options[name] = value
  }
  const isEnded = 'baseline' in settings && settings.baseline === undefined
  return { ...named, comparison: isEnded ? null : settings }
}

const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0

const withoutUndefined = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const isHidden = (value: unknown): boolean => value === '***' || value === '…'

/** All options of the changed schedule. @throws UsageError if the service does not show some of them */
function toOptions({ options }: Schedule, changed: Fields): Fields {
  const all = { ...options, ...changed }
  const hidden = Object.keys(all).filter((name) => isHidden(all[name]))
  if (hidden.length === 0) return withoutUndefined(all)
  const names = hidden.map((name) => `--${toFlagName(name)}`).join(', ')
  throw new UsageError(
    `the service does not show ${names} of this schedule, but a change of options sends all of them. Repeat them, or write --reset.`,
  )
}

/** The whole comparison of the changed schedule. */
function toComparison({ comparison }: Schedule, changed: Fields): Fields {
  if (!comparison && changed.baseline === undefined)
    throw new UsageError('the runs of this schedule are not compared. Add --compare previous or --compare approved.')
  const { baseline, color_tolerance, antialiasing, ignore, accept_status, approve_first } = comparison ?? {}
  const threshold = comparison?.threshold ?? undefined
  return withoutUndefined({ baseline, threshold, color_tolerance, antialiasing, ignore, accept_status, approve_first, ...changed })
}

/**
 * Builds the changes that the flags of a command name.
 * @param flags all flags of the command, and `timing` those that are fields of the schedule
 * @param read reads the schedule. Called only if options or comparison change
 * @throws UsageError for contradictions, and for options that must be repeated
 */
export async function toScheduleChanges(
  { values }: Pick<Parsed, 'values'>,
  { flags, timing }: { flags: readonly Flag[]; timing: readonly Flag[] },
  read: () => Promise<Schedule>,
): Promise<ScheduleChanges> {
  const own = new Set(flags.map(({ name }) => name))
  const given = [...values]
    .filter(([name]) => own.has(name) && name !== 'reset')
    .map(([name, value]) => [toOptionName(name), value] as const)
  const resets = readResets((values.get('reset') as readonly string[] | undefined) ?? [], flags)
  const both = given.find(([name]) => resets.includes(name))
  if (both) throw new UsageError(`--${toFlagName(both[0])} has a value, and --reset restores its default. Leave one out.`)
  const changes = { ...Object.fromEntries(given), ...Object.fromEntries(resets.map((name) => [name, undefined])) }
  if (isEmpty(changes)) throw new UsageError('nothing to change. Add an option; --help lists them.')
  const { fields, comparison, options } = sortChanges(changes, new Set(timing.map(({ name }) => toOptionName(name))))
  const isCompared = comparison !== null && !isEmpty(comparison)
  const schedule = isCompared || !isEmpty(options) ? await read() : undefined
  return {
    ...fields,
    ...(comparison === null ? { comparison } : isCompared && schedule ? { comparison: toComparison(schedule, comparison) } : {}),
    ...(schedule && !isEmpty(options) ? { options: toOptions(schedule, options) } : {}),
  } as ScheduleChanges
}
