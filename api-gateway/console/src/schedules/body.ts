import { RECORD_OPTIONS, type RecordOptionName } from '@tintype/crds/options/output/delivery'
import type { components } from '../../../client/src/generated/api.ts'
import {
  type Field,
  type FindProblems,
  type FormInputs,
  fieldsByName,
  isPicture,
  toInput,
  toInputs,
  toRequest,
  toValue,
} from '../form/fields.ts'
import { findNextTimes } from './timing.ts'

// The form of a schedule: when to capture, the page, and the options of each run.

export type Schedule = components['schemas']['Schedule']

const NO_COMPARISON = {
  /** Picture that runs are compared with. Empty: runs are not compared. */
  baseline: '',
  threshold: '',
  color_tolerance: '',
  antialiasing: 'false',
  /** One selector or region a line. */
  ignore: '',
  /** One status or range a line. */
  accept_status: '',
  /** Whether the first run needs no approval. */
  approve_first: 'false',
}

export const NEW_SCHEDULE = {
  name: '',
  url: '',
  schedule: '0 9 * * *',
  time_zone: 'UTC',
  concurrency_policy: 'forbid',
  starting_deadline_seconds: '',
  spread_seconds: '',
  options: {} as FormInputs,
  /** Options that stay as they are stored, and that the record does not show. */
  hidden: [] as readonly string[],
  ...NO_COMPARISON,
}
/** What was entered. Empty texts mean the default. */
export type ScheduleInputs = typeof NEW_SCHEDULE

const recordOptions = Object.keys(RECORD_OPTIONS) as RecordOptionName[]

/** A run captures the page in any case, and nobody waits for its response. */
export const isOptionOfRuns = ({ name, place }: Pick<Field, 'name' | 'place'>): boolean =>
  place !== 'cache' && name !== 'async' && name !== 'response_type'

/** The form for an existing schedule. */
export function toScheduleInputs(record: Schedule): ScheduleInputs {
  const given = Object.fromEntries(recordOptions.map((option) => [option, record[option]]).filter(([, value]) => value !== null))
  const { inputs: options, hidden } = toInputs({ ...record.options, ...given })
  const isMarkup = record.options.html !== undefined || record.options.markdown !== undefined
  return {
    name: record.name,
    url: isMarkup ? '' : record.url,
    schedule: record.schedule,
    time_zone: record.time_zone,
    concurrency_policy: record.concurrency_policy,
    starting_deadline_seconds: String(record.starting_deadline_seconds ?? ''),
    spread_seconds: record.spread_seconds === 0 ? '' : String(record.spread_seconds),
    options,
    hidden,
    ...toComparisonInputs(record.comparison),
  }
}

const orDefault = (value: number, option: string): string => (String(value) === fieldsByName.get(option)?.fallback ? '' : String(value))

function toComparisonInputs(comparison: Schedule['comparison']): typeof NO_COMPARISON {
  if (!comparison) return NO_COMPARISON
  return {
    baseline: comparison.baseline,
    threshold: String(comparison.threshold ?? ''),
    color_tolerance: orDefault(comparison.color_tolerance, 'compare_color_tolerance'),
    antialiasing: String(comparison.antialiasing),
    ignore: String(toInput(ignoreField, comparison.ignore) ?? ''),
    accept_status: comparison.accept_status.join('\n'),
    approve_first: String(comparison.approve_first),
  }
}

/** `compare_ignore` of screenshots has the same form. */
const ignoreField = fieldsByName.get('compare_ignore')!

export interface ScheduleRequest {
  /** Body of POST /schedules. */
  body: Record<string, unknown>
  /** What must be corrected, by REST name. */
  problems: ReadonlyMap<string, string>
  warnings: readonly string[]
}

const WHOLE = /^\d{1,9}$/

function toSeconds(text: string, [min, max]: readonly [number, number]): number | string {
  const seconds = Number(text)
  return WHOLE.test(text) && seconds >= min && seconds <= max ? seconds : `Enter a whole number from ${min} to ${max}, or nothing.`
}

const toShare = (text: string): number | string => {
  const share = Number(text)
  return Number.isNaN(share) || share < 0 || share > 1 ? 'Enter a number from 0 to 1, or nothing.' : share
}

/** Options that a comparison of runs excludes. */
function findComparisonProblems(options: Record<string, unknown>): [name: string, problem: string][] {
  const set = Object.keys(options).filter((name) => name.startsWith('compare_'))
  const problems = set.map((name): [string, string] => [name, `the comparison of the schedule sets ${name} of each run: leave it out`])
  return isPicture(String(options.format ?? 'png'))
    ? problems
    : [...problems, ['format', 'a comparison needs a picture: use png, jpeg, webp or avif']]
}

/** The field `comparison` of the body; undefined if runs are not compared. */
function toComparison(inputs: ScheduleInputs, options: Record<string, unknown>, problems: Map<string, string>) {
  if (inputs.baseline === '') return undefined
  for (const [name, problem] of findComparisonProblems(options)) problems.set(name, problem)
  const comparison: Record<string, unknown> = { baseline: inputs.baseline }
  for (const name of ['threshold', 'color_tolerance'] as const) {
    const text = inputs[name].trim()
    const share = toShare(text)
    if (typeof share === 'string') problems.set(name, share)
    else if (text !== '') comparison[name] = share
  }
  if (inputs.antialiasing === 'true') comparison.antialiasing = true
  const ignore = toValue(ignoreField, inputs.ignore)
  if (ignore !== undefined) comparison.ignore = ignore
  const statuses = inputs.accept_status.split(/[\s,]+/).filter(Boolean)
  if (statuses.length > 0) comparison.accept_status = statuses
  if (inputs.baseline === 'approved' && inputs.approve_first === 'true') comparison.approve_first = true
  return comparison
}

const SECONDS = { starting_deadline_seconds: [1, 31_622_400], spread_seconds: [0, 86_400] } as const

/** Stands for a hidden option that stays. It is the same before and after a change, so it is not sent. */
const HIDDEN = '***'

interface ScheduleContext {
  now: number
  /** Creation of the schedule, in epoch milliseconds. */
  anchor: number
  /** Absent: options are not checked. */
  findProblems?: FindProblems | undefined
}

/** The request that creates the schedule. */
export function toScheduleRequest(inputs: ScheduleInputs, { now, anchor, findProblems }: ScheduleContext): ScheduleRequest {
  const { hidden } = inputs
  const { body: capture, problems: found, warnings } = toRequest(inputs.url, inputs.options, findProblems, hidden)
  const problems = new Map(found)
  const body: Record<string, unknown> = { schedule: inputs.schedule.trim(), time_zone: inputs.time_zone.trim() }
  if (inputs.name.trim() !== '') body.name = inputs.name.trim()
  body.concurrency_policy = inputs.concurrency_policy
  for (const [field, bounds] of Object.entries(SECONDS)) {
    const text = inputs[field as keyof typeof SECONDS].trim()
    if (text === '') continue
    const seconds = toSeconds(text, bounds)
    if (typeof seconds === 'string') problems.set(field, seconds)
    else body[field] = seconds
  }
  if (capture.url !== undefined) body.url = capture.url
  const entries = Object.entries(capture.options).filter(([name]) => isOptionOfRuns(fieldsByName.get(name)!))
  const isOfRecord = (name: string): boolean => Object.hasOwn(RECORD_OPTIONS, name)
  Object.assign(body, Object.fromEntries(entries.filter(([name]) => isOfRecord(name))))
  body.options = Object.fromEntries([...hidden.map((name) => [name, HIDDEN]), ...entries.filter(([name]) => !isOfRecord(name))])
  const comparison = toComparison(inputs, capture.options, problems)
  if (comparison) body.comparison = comparison
  const next = findNextTimes(inputs.schedule.trim(), inputs.time_zone.trim(), { now, anchor, count: 1 })
  if ('problem' in next) problems.set(next.of, next.problem)
  return { body, problems, warnings }
}
