import type { Schedule, ScheduleRequest, ScheduleRun } from '../../../client/src/index.ts'
import type { Flag } from '../arguments/flag.ts'
import { toUrl } from '../batch/urls.ts'
import { UsageError } from '../common/errors.ts'
import { formatFacts, formatTime } from '../terminal/output.ts'
import { captureFlags, pageOf, toCaptureOptions } from './capture-flags.ts'
import { type Command, type Context, toDeleteCommand } from './context.ts'
import { COMPARISON_FIELDS, describeGiven, describeOptions, toScheduleChanges } from './schedule-changes.ts'

const DEFAULT_LIMIT = 20
const MAX_PAGE = 500

const stateOf = ({ status, problem }: Schedule): string => (problem ? `${status} ${problem.code}` : status)
const describeRun = ({ status, error_code: code, changed }: ScheduleRun): string =>
  code === null ? `${status}${changed ? ', changed' : ''}` : `${status} ${code}`

/** The newest run, also one that a person started. */
const lastRunOf = ({ last_run_at: at, active_runs: [open], recent_runs: [ended] }: Schedule): string => {
  const run = open ?? ended
  return run ? `${formatTime(at)} ${describeRun(run)}` : formatTime(at)
}

const toPercent = (ratio: number | null): string => (ratio === null ? '' : `${(ratio * 100).toFixed(2)}%`)

const scheduleRow = (schedule: Schedule): string[] => [
  schedule.id,
  schedule.name,
  schedule.schedule,
  schedule.time_zone,
  stateOf(schedule),
  lastRunOf(schedule),
  schedule.last_change
    ? `${formatTime(schedule.last_change.scheduled_at)} ${toPercent(schedule.last_change.changed_ratio)}`.trimEnd()
    : '-',
  formatTime(schedule.next_run_at),
  schedule.url,
]

const isApproved = ({ comparison }: Schedule, { id }: ScheduleRun): boolean =>
  comparison?.baseline === 'approved' && comparison.baseline_run === id

type Approval = NonNullable<Schedule['comparison']>['approvals'][number]

/** `scr_b, 2026-11-22 09:12 UTC, by key_a, replaced scr_a` */
function describeApproval({ run_id, approved_at, approved_by, replaced_run, undone_at, undone_by }: Approval): string {
  const by = (who: string | null) => (who === null ? '' : ` by ${who}`)
  return [
    `${run_id}, ${formatTime(approved_at)} UTC${by(approved_by)}`,
    ...(replaced_run === null ? [] : [`replaced ${replaced_run}`]),
    ...(undone_at === null ? [] : [`undone ${formatTime(undone_at)} UTC${by(undone_by)}`]),
  ].join(', ')
}

/** A schedule as lines of names and values. */
function describeSchedule(schedule: Schedule): string[] {
  const { problem, next_run_at, last_run_at, last_success_at, comparison } = schedule
  const rows: [string, string][] = [
    ['id', schedule.id],
    ['name', schedule.name],
    ['url', schedule.url],
    ['schedule', `${schedule.schedule} (${schedule.time_zone})`],
    ['status', schedule.status],
  ]
  if (problem) rows.push(['problem', `${problem.code}: ${problem.message}`])
  if (next_run_at) rows.push(['next run', `${formatTime(next_run_at)} UTC`])
  if (last_run_at) rows.push(['last run', `${formatTime(last_run_at)} UTC`])
  if (last_success_at) rows.push(['success', `${formatTime(last_success_at)} UTC`])
  if (comparison?.last) {
    const { id: run, to, changed, changed_ratio: ratio } = comparison.last
    const share = ratio === null ? '' : ` (${toPercent(ratio)} of the pixels)`
    rows.push(['compared', `${run} with ${to}: ${changed ? 'changed' : 'not changed'}${share}`])
  }
  for (const approval of comparison?.approvals ?? []) rows.push(['approval', describeApproval(approval)])
  for (const run of [...schedule.active_runs, ...schedule.recent_runs])
    rows.push([
      'run',
      `${run.id}, ${formatTime(run.scheduled_at)} UTC, ${describeRun(run)}${isApproved(schedule, run) ? ', approved' : ''}`,
    ])
  return formatFacts(rows)
}

/** Prints a schedule, then the options that the command named, as the service shows them: secrets are masked. */
function printSchedule(context: Context, schedule: Schedule): void {
  context.show(schedule, ...describeSchedule(schedule), ...describeGiven(context.parsed, schedule))
}

const list: Command = {
  name: 'schedules list',
  summary: 'Lists the schedules of the account',
  async run(context) {
    const schedules = await context.client().schedules.list({ signal: context.world.signal }).toArray()
    const head = ['ID', 'NAME', 'SCHEDULE', 'TIME ZONE', 'STATUS', 'LAST RUN (UTC)', 'CHANGED (UTC)', 'NEXT RUN (UTC)', 'URL']
    context.showTable(schedules, head, scheduleRow, 'no schedules')
  },
}

const get: Command = {
  name: 'schedules get',
  usage: 'ID',
  summary: 'Shows a schedule, its last runs and its options',
  async run(context) {
    const schedule = await context.client().schedules.get(context.argument(0), { signal: context.world.signal })
    context.show(schedule, ...describeSchedule(schedule), ...describeOptions(schedule))
  },
}

const timingFlags: readonly Flag[] = [
  { name: 'name', kind: 'text', value: 'TEXT', summary: 'Name for people' },
  { name: 'time-zone', kind: 'text', value: 'ZONE', summary: 'Of CRON, not of the page (--timezone); default: UTC' },
  { name: 'suspend', kind: 'boolean', summary: 'Creates no runs yet' },
  {
    name: 'concurrency-policy',
    kind: 'text',
    value: 'POLICY',
    values: ['forbid', 'allow'],
    summary: 'forbid (default) waits for the previous run',
  },
  { name: 'starting-deadline-seconds', kind: 'integer', value: 'N', summary: 'How late a missed run may start; default: any' },
  { name: 'spread-seconds', kind: 'integer', value: 'N', summary: 'Spreads schedules over N seconds; default: 0' },
]
const compareFlags: readonly Flag[] = [
  {
    name: 'compare',
    kind: 'text',
    value: 'BASELINE',
    values: ['previous', 'approved'],
    summary: 'Compares each run: previous or approved',
  },
  { name: 'compare-approve-first', kind: 'boolean', summary: 'With approved: the first run needs no approval' },
]

/** With --compare, the other flags of comparisons are about the runs of the schedule. */
function splitComparison(context: Context): object {
  const options: Record<string, unknown> = { ...toCaptureOptions(context.parsed) }
  const baseline = context.text('compare')
  if (baseline === undefined) return options
  const comparison: Record<string, unknown> = { baseline }
  for (const [option, field] of Object.entries(COMPARISON_FIELDS)) {
    if (options[option] !== undefined) comparison[field] = options[option]
    delete options[option]
  }
  if (context.isOn('compare-approve-first')) comparison.approve_first = true
  return { ...options, comparison }
}

/** `--timezone` is an option of the page, and easily taken for the zone of the schedule. */
function warnOfZone(context: Context): void {
  const { values } = context.parsed
  if (!values.has('timezone') || values.has('time-zone')) return
  context.note('warning: --timezone sets the time zone of the page. Set --time-zone for the time zone of the schedule.')
}

/** Every run captures the page, and the command does not wait for one. */
const runFlags = captureFlags.filter(({ name }) => !/^(async$|cache(-|$))/.test(name))

const create: Command = {
  name: 'schedules create',
  usage: 'CRON [URL]',
  summary: 'Captures a page again and again',
  flags: [...timingFlags, ...compareFlags, ...runFlags],
  notes: [
    '  tintype schedules create @hourly example.com --full-page --compare previous',
    "  tintype schedules create '0 9 * * 1-5' example.com --time-zone UTC",
    '',
    'CRON is an expression of five fields, a macro, or @every and a duration.',
    'Options of the capture are flags: `tintype --help options` lists them.',
  ],
  async run(context) {
    const [cron, url] = context.parsed.positionals
    const page = pageOf(context, url, 'Write it after the cron expression, in quotation marks.')
    warnOfZone(context)
    const request = { ...splitComparison(context), ...context.given(timingFlags), schedule: cron, ...page }
    printSchedule(context, await context.client().schedules.create({ ...(request as ScheduleRequest), signal: context.world.signal }))
  },
}

/** Flags that are fields of the schedule itself. */
const changeFlags: readonly Flag[] = [
  { name: 'schedule', kind: 'text', value: 'CRON', summary: 'When to capture, as in `schedules create`' },
  { name: 'url', kind: 'text', value: 'URL', summary: 'The page' },
  ...timingFlags.map((flag) => (flag.name === 'suspend' ? { ...flag, summary: 'Creates no runs', isNegatable: true } : flag)),
]

const updateFlags: readonly Flag[] = [
  ...changeFlags,
  ...compareFlags,
  { name: 'reset', kind: 'list', value: 'OPTION', summary: 'Restores the default of an option; may be repeated' },
  ...runFlags,
]

const update: Command = {
  name: 'schedules update',
  usage: 'ID',
  summary: 'Changes a schedule; what you do not name stays as it is',
  flags: updateFlags,
  notes: [
    "  tintype schedules update ID --schedule '0 6 * * *' --full-page --reset compare",
    'Options of the capture are flags: `tintype --help options` lists them.',
  ],
  async run(context) {
    const id = context.argument(0)
    const { schedules } = context.client()
    const { signal } = context.world
    warnOfZone(context)
    const { url, ...changes } = toScheduleChanges(context.parsed, { flags: updateFlags, timing: changeFlags })
    printSchedule(context, await schedules.update(id, { ...changes, ...(typeof url === 'string' && { url: toUrl(url) }), signal }))
  },
}

/** A command that sets `suspend`. */
const toSuspendCommand = (word: 'suspend' | 'resume', summary: string, notes: string[] = []): Command => ({
  name: `schedules ${word}`,
  usage: 'ID',
  summary,
  notes,
  async run(context) {
    const changes = { suspend: word === 'suspend', signal: context.world.signal }
    const schedule = await context.client().schedules.update(context.argument(0), changes)
    context.show(schedule, `${schedule.id} is ${stateOf(schedule)}`)
  },
})

const run: Command = {
  name: 'schedules run',
  usage: 'ID',
  summary: 'Creates a run now and prints its id',
  notes: ['`tintype watch RUN` follows it, and `tintype get RUN -o FILE` downloads it.'],
  async run(context) {
    const created = await context.client().schedules.run(context.argument(0), { signal: context.world.signal })
    context.show(created, created.id)
  },
}

const runs: Command = {
  name: 'schedules runs',
  usage: 'ID',
  summary: 'Lists the runs of a schedule, newest first',
  flags: [{ name: 'limit', kind: 'integer', value: 'N', summary: `Number of runs; default: ${DEFAULT_LIMIT}` }],
  async run(context) {
    const limit = context.number('limit') ?? DEFAULT_LIMIT
    if (limit < 1) throw new UsageError('--limit must be at least 1.')
    const found: ScheduleRun[] = []
    const query = { limit: Math.min(limit, MAX_PAGE), signal: context.world.signal }
    for await (const each of context.client().schedules.runs(context.argument(0), query)) {
      found.push(each)
      if (found.length >= limit) break
    }
    const toRow = (each: ScheduleRun) => [each.id, formatTime(each.scheduled_at), formatTime(each.completed_at), describeRun(each)]
    context.showTable(found, ['ID', 'DUE (UTC)', 'ENDED (UTC)', 'STATUS'], toRow, 'no runs')
  },
}

const approve: Command = {
  name: 'schedules approve',
  usage: 'ID [RUN]',
  summary: 'Compares later runs with a run, by default the last one',
  async run(context) {
    const [id = '', run] = context.parsed.positionals
    const approved = await context
      .client()
      .schedules.approve(id, { ...(run !== undefined && { run_id: run }), signal: context.world.signal })
    context.show(approved, `approved ${approved.run_id}`)
  },
}

const undoApproval: Command = {
  name: 'schedules undo',
  usage: 'ID',
  summary: 'Undoes the last approval',
  notes: ['An approval can be undone for 30 days.'],
  async run(context) {
    const undone = await context.client().schedules.undoApproval(context.argument(0), { signal: context.world.signal })
    const next = undone.baseline_run === null ? 'approve another run' : `later runs are compared with ${undone.baseline_run}`
    context.show(undone, `undid the approval of ${undone.run_id}; ${next}`)
  },
}

const remove = toDeleteCommand('schedules delete', 'Deletes a schedule; the screenshots of its runs stay', ({ schedules }) => schedules)

/** Commands about schedules. */
export const scheduleCommands: readonly Command[] = [
  list,
  create,
  get,
  update,
  run,
  runs,
  toSuspendCommand('suspend', 'Stops the creation of runs'),
  toSuspendCommand('resume', 'Creates runs again', [
    'The last missed run starts at once, unless its',
    '--starting-deadline-seconds have passed.',
  ]),
  approve,
  undoApproval,
  remove,
]
