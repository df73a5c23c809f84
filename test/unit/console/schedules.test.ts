import t from 'tap'
import { findProblems } from '../../../api-gateway/console/src/form/checks.ts'
import { fieldsByName, toInput } from '../../../api-gateway/console/src/form/fields.ts'
import {
  isOptionOfRuns,
  NEW_SCHEDULE,
  type ScheduleInputs,
  toScheduleInputs,
  toScheduleRequest,
} from '../../../api-gateway/console/src/schedules/body.ts'
import { describeLastRun, withoutPicture } from '../../../api-gateway/console/src/schedules/last-run.ts'
import { COMMON_SCHEDULES, findNextTimes, formatIn } from '../../../api-gateway/console/src/schedules/timing.ts'
import { createScheduleBody, updateScheduleBody } from '../../../api-gateway/src/resources/schedules/bodies.ts'
import { scheduleExample } from '../../../api-gateway/src/resources/schedules/routes.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { exampleOf } from '../../../crds/src/options/groups.ts'
import { toMergePatch } from '../../../crds/src/schema/merge-patch.ts'

// The form of schedules. The API's own readers check what it builds.

const NOW = Date.parse('2026-11-25T10:00:00Z')
const times = { now: NOW, anchor: NOW, findProblems }
const rules = { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] }
const context = { isLenient: false, deps: { egress: rules, webhookRules: rules, now: () => new Date(NOW) } } as never
const filled: ScheduleInputs = { ...NEW_SCHEDULE, url: 'https://example.com/' }
const build = (inputs: Partial<ScheduleInputs>) => toScheduleRequest({ ...filled, ...inputs }, times)

t.test('the next times follow the clock of the time zone', async (t) => {
  const found = findNextTimes('0 9 * * MON-FRI', 'Europe/Zurich', { ...times, count: 2 })
  t.strictSame(found, { times: [Date.parse('2026-11-26T08:00:00Z'), Date.parse('2026-11-27T08:00:00Z')] })
  t.equal(formatIn('Europe/Zurich', NOW), 'Wed, Nov 25, 2026, 11:00')
  t.match(findNextTimes('@every 90m', 'UTC', { ...times, count: 1 }), { times: [NOW + 5_400_000] })
  for (const [schedule] of COMMON_SCHEDULES) t.ok('times' in findNextTimes(schedule, 'UTC', { ...times, count: 1 }), schedule)
})

t.test('an expression, a zone and seconds that the API refuses are reported at their fields', async (t) => {
  for (const [inputs, field] of [
    [{ schedule: '61 * * * *' }, 'schedule'],
    [{ schedule: '' }, 'schedule'],
    [{ schedule: '0 0 31 2 *' }, 'schedule'],
    [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
    [{ time_zone: '' }, 'time_zone'],
    [{ spread_seconds: '86401' }, 'spread_seconds'],
    [{ starting_deadline_seconds: '0' }, 'starting_deadline_seconds'],
    [{ starting_deadline_seconds: '1.5' }, 'starting_deadline_seconds'],
    [{ url: '' }, 'url'],
    [{ options: { viewport_width: '0' } }, 'viewport_width'],
  ] as const) {
    const { problems, body } = build(inputs)
    t.ok(problems.has(field), `${field}: ${JSON.stringify(inputs)}`)
    const isFormOnly = field === 'spread_seconds' || field === 'starting_deadline_seconds' || field === 'time_zone'
    if (!isFormOnly) t.throws(() => createScheduleBody.read(body, context), field)
  }
})

t.test('the API accepts what the form builds, with every option that a run can have', async (t) => {
  const simple = build({ name: ' home ', spread_seconds: '60', starting_deadline_seconds: '300', concurrency_policy: 'allow' })
  t.strictSame([...simple.problems], [])
  t.match(createScheduleBody.read(simple.body, context).body, {
    url: 'https://example.com/',
    timing: {
      ...{ name: 'home', schedule: '0 9 * * *', time_zone: 'UTC', concurrency_policy: 'allow' },
      ...{ spread_seconds: 60, starting_deadline_seconds: 300 },
    },
  })
  const simpleOptions = [
    'full_page',
    'format',
    'authorization',
    'hide_selectors',
    'media_features',
    'retention_days',
    'external_identifier',
  ]
  const options = Object.fromEntries(
    simpleOptions.map((name) => {
      const field = fieldsByName.get(name)!
      return [name, toInput(field, exampleOf(field.option))!]
    }),
  )
  const { body, problems } = build({ options })
  t.strictSame([...problems], [])
  t.strictSame(
    Object.keys(body.options as object).sort(),
    ['full_page', 'format', 'authorization', 'hide_selectors', 'media_features'].sort(),
    'fields of the record are beside the options',
  )
  t.doesNotThrow(() => createScheduleBody.read(body, context))
  for (const field of fieldsByName.values())
    t.equal(isOptionOfRuns(field), !/^(async|response_type|cache|cache_.*)$/.test(field.name), field.name)
  t.strictSame(build({ options: { cache: 'true', async: 'false' } }).body.options, {}, 'options that a run cannot have are left out')
})

t.test('a change sends only what differs, and null resets a field', async (t) => {
  const record = { ...scheduleExample, webhook_url: 'https://hooks.example.com/in', options: { full_page: true, authorization: '***' } }
  const inputs = toScheduleInputs(record as never)
  t.strictSame(inputs.hidden, ['authorization'])
  t.match(inputs, { name: 'home page', time_zone: 'Europe/Zurich', starting_deadline_seconds: '3600', spread_seconds: '' })
  const before = toScheduleRequest(inputs, times).body
  const changesOf = (changed: Partial<ScheduleInputs>) => toMergePatch(before, toScheduleRequest({ ...inputs, ...changed }, times).body)
  t.strictSame(changesOf({}), {}, 'options that the record hides stay')
  t.strictSame(changesOf({ schedule: '@hourly' }), { schedule: '@hourly' })
  const { webhook_url: _, ...others } = inputs.options
  const cleared = changesOf({ name: '', starting_deadline_seconds: '', options: others })
  t.strictSame(cleared, { name: null, starting_deadline_seconds: null, webhook_url: null })
  t.doesNotThrow(() => updateScheduleBody.read(cleared, context))
  t.strictSame(changesOf({ options: { ...inputs.options, viewport_width: '800' } }), { options: { viewport_width: 800 } })
  const { full_page: _page, ...fewer } = inputs.options
  t.strictSame(changesOf({ options: fewer }), { options: { full_page: null } })
  t.strictSame(changesOf({ hidden: [] }), { options: { authorization: null } }, 'hidden options can be removed')
  const entered = changesOf({ hidden: [], options: { ...inputs.options, headers: [['x-a', '1']] } })
  t.strictSame(entered, { options: { authorization: null, headers: { 'x-a': '1' } } })
})

t.test('runs are compared as the form says, and a change of the form changes or removes the comparison', async (t) => {
  const compared = {
    baseline: 'approved' as const,
    threshold: '0.02',
    antialiasing: 'true',
    ignore: '#clock\n{"x":0,"y":0,"width":9,"height":9}',
  }
  const { body, problems } = build(compared)
  t.strictSame([...problems], [])
  t.strictSame(body.comparison, {
    ...{ baseline: 'approved', threshold: 0.02, antialiasing: true },
    ignore: [{ selector: '#clock' }, { x: 0, y: 0, width: 9, height: 9 }],
  })
  t.doesNotThrow(() => createScheduleBody.read(body, context))
  t.equal(build({ ...compared, baseline: '' }).body.comparison, undefined)
  for (const [inputs, field] of [
    [{ ...compared, threshold: '2' }, 'threshold'],
    [{ ...compared, color_tolerance: 'x' }, 'color_tolerance'],
    [{ ...compared, options: { format: 'pdf' } }, 'format'],
    [{ ...compared, options: { compare_to: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70' } }, 'compare_to'],
  ] as const) {
    const wrong = build(inputs)
    t.ok(wrong.problems.has(field), field)
    if (field === 'format' || field === 'compare_to') t.throws(() => createScheduleBody.read(wrong.body, context), field)
  }

  const inputs = toScheduleInputs(scheduleExample as never)
  t.match(inputs, { baseline: 'approved', threshold: '', color_tolerance: '', antialiasing: 'false', ignore: '#clock' })
  const before = toScheduleRequest(inputs, times).body
  const changesOf = (changed: Partial<ScheduleInputs>) => toMergePatch(before, toScheduleRequest({ ...inputs, ...changed }, times).body)
  t.strictSame(changesOf({}), {})
  t.strictSame(changesOf({ baseline: '' }), { comparison: null })
  t.strictSame(changesOf({ threshold: '0.5', ignore: '' }), { comparison: { threshold: 0.5, ignore: null } })
})

t.test('a schedule without a comparison keeps its page and its options in the form', async (t) => {
  const inputs = toScheduleInputs({ ...scheduleExample, comparison: null } as never)
  t.match(inputs, { url: 'https://example.com/', name: 'home page', baseline: '', options: { full_page: 'true', format: 'webp' } })
})

t.test('a schedule of markup has no URL in the form', async (t) => {
  const record = { ...scheduleExample, url: 'tintype:markup', options: { html: '<p>' } }
  const inputs = toScheduleInputs(record as never)
  t.equal(inputs.url, '')
  t.strictSame([...toScheduleRequest(inputs, times).problems], [])
  const large = toScheduleInputs({ ...record, options: { html: '…', html_base_url: 'https://example.com/' } } as never)
  t.strictSame([large.hidden, [...toScheduleRequest(large, times).problems]], [['html'], []], 'nobody is asked for hidden markup')
  const moved = { ...large, url: 'https://example.com/' }
  t.match([...toScheduleRequest(moved, times).problems], [['url', /url and html exclude each other/]])
})

t.test('the last run is said in the words of the badges', async (t) => {
  const now = new Date(NOW)
  const [run] = scheduleExample.recent_runs
  const last = { ...run!, scheduled_at: new Date(NOW - 300_000).toISOString(), status: 'completed' as const, error_code: null }
  const describe = (more: object) => describeLastRun({ active_runs: [], recent_runs: [{ ...last, ...more }] }, now)
  t.equal(describe({}), 'Completed 5 minutes ago')
  t.equal(describe({ error_code: 'TIMEOUT' }), 'Failed 5 minutes ago: TIMEOUT')
  t.equal(describeLastRun({ active_runs: [last], recent_runs: [last] }, now), 'Runs now')
  t.equal(describeLastRun({ active_runs: [], recent_runs: [] }, now), 'No run yet')
})

t.test('a run is not shown as deleted while its record is being read', async (t) => {
  const completed = { status: 'completed', error_code: null } as const
  t.equal(withoutPicture(completed, false), '')
  t.equal(withoutPicture(completed, true), 'Deleted')
  t.equal(withoutPicture({ status: 'deleted', error_code: null }, false), 'Deleted')
  t.equal(withoutPicture({ status: 'pending', error_code: null }, false), 'Waiting')
  t.equal(withoutPicture({ status: 'failed', error_code: 'TIMEOUT' }, true), 'TIMEOUT')
})
