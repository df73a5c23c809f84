import type { Schedule, ScheduleChanges } from '../../../client/src/index.ts'
import { type Flag, toFlagName, toOptionName } from '../arguments/flag.ts'
import type { Parsed } from '../arguments/parse.ts'
import { suggestion, UsageError } from '../common/errors.ts'
import { RECORD_OPTIONS } from '../generated/options.ts'

// The changes of `schedules update`: a merge patch with what the command names. Null restores a default.

type Fields = Record<string, unknown>

/** Flags of comparisons by their field in `comparison`. */
export const COMPARISON_FIELDS = {
  compare_threshold: 'threshold',
  compare_color_tolerance: 'color_tolerance',
  compare_antialiasing: 'antialiasing',
  compare_ignore: 'ignore',
  compare_accept_status: 'accept_status',
  compare_approve_first: 'approve_first',
} as const

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

const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0

/** Where a flag belongs: to the schedule itself, to its comparison, or to the options of the capture. */
function placeOf(name: string, timing: readonly Flag[]): [place: 'fields' | 'comparison' | 'options', field: string] {
  if (name === 'compare') return ['comparison', 'baseline']
  if (Object.hasOwn(COMPARISON_FIELDS, name)) return ['comparison', COMPARISON_FIELDS[name as keyof typeof COMPARISON_FIELDS]]
  const isField = RECORD_OPTIONS.includes(name) || timing.some((flag) => toOptionName(flag.name) === name)
  return [isField ? 'fields' : 'options', name]
}

/**
 * Builds the changes that the flags of a command name.
 * @param flags all flags of the command, and `timing` those that are fields of the schedule
 * @throws UsageError for contradictions
 */
export function toScheduleChanges(
  { values }: Pick<Parsed, 'values'>,
  { flags, timing }: { flags: readonly Flag[]; timing: readonly Flag[] },
): ScheduleChanges {
  const own = new Set(flags.map(({ name }) => name))
  const given = [...values]
    .filter(([name]) => own.has(name) && name !== 'reset')
    .map(([name, value]) => [toOptionName(name), value] as const)
  const resets = readResets((values.get('reset') as readonly string[] | undefined) ?? [], flags)
  const both = given.find(([name]) => resets.includes(name))
  if (both) throw new UsageError(`--${toFlagName(both[0])} has a value, and --reset restores its default. Leave one out.`)
  const changes: Fields = { ...Object.fromEntries(given), ...Object.fromEntries(resets.map((name) => [name, null])) }
  if (isEmpty(changes)) throw new UsageError('nothing to change. Add an option; --help lists them.')
  const sorted = { fields: {} as Fields, comparison: {} as Fields, options: {} as Fields }
  for (const [name, value] of Object.entries(changes)) {
    const [place, field] = placeOf(name, timing)
    sorted[place][field] = value
  }
  const comparison = changes.compare === null ? null : sorted.comparison
  return {
    ...sorted.fields,
    ...(comparison === null || !isEmpty(comparison) ? { comparison } : {}),
    ...(isEmpty(sorted.options) ? {} : { options: sorted.options }),
  }
}

/** Flags whose values are among the other lines of a schedule, or no part of it. */
const SHOWN_ELSEWHERE = new Set(['name', 'url', 'schedule', 'time-zone', 'server', 'api-key', 'profile', 'namespace', 'json', 'reset'])

/** The options of a schedule by the names of their flags, as the service shows them. */
function optionsOf({ comparison, options }: Schedule): Fields {
  const compared = Object.entries(COMPARISON_FIELDS).map(([option, field]) => [
    option,
    (comparison as Fields | null)?.[field] ?? options?.[option],
  ])
  const shown = { ...options, compare: comparison?.baseline, ...Object.fromEntries(compared) }
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined && value !== null))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** `option    full_page true` for each option of a schedule. */
export const describeOptions = (schedule: Schedule): string[] =>
  Object.entries(optionsOf(schedule)).map(([name, value]) => `option    ${name} ${textOf(value)}`)

/** The same for each option that a command named. */
export function describeGiven({ values }: Pick<Parsed, 'values'>, schedule: Schedule): string[] {
  const fields: Fields = { ...schedule, ...optionsOf(schedule) }
  const given = [...values.keys()].filter((name) => !SHOWN_ELSEWHERE.has(name)).map(toOptionName)
  const resets = ((values.get('reset') as readonly string[] | undefined) ?? []).map((text) => toOptionName(text.replace(/^--/, '')))
  return [
    ...given.map((name) => `option    ${name} ${textOf(fields[name] ?? 'not shown')}`),
    ...resets.map((name) => `option    ${name} default`),
  ]
}
