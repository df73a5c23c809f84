import t, { type Test } from 'tap'
import { aService, noContent, pageOf } from '../fake-world.ts'

const ID = 'sch_01kajq2v0vtz8m3c5x7r9w4n6p'
const RUN = 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6z'

const run = {
  id: RUN,
  scheduled_at: '2026-11-23T08:00:00.000Z',
  status: 'failed',
  completed_at: '2026-11-23T08:00:04.310Z',
  error_code: 'TIMEOUT',
  changed: null,
}

const schedule = {
  ...{ id: ID, name: 'home', url: 'https://a.example/', schedule: '@hourly', time_zone: 'Europe/Zurich', status: 'active', problem: null },
  ...{ next_run_at: '2026-11-24T08:00:00.000Z', last_run_at: '2026-11-23T08:00:00.000Z', last_success_at: null },
  ...{ active_runs: [], recent_runs: [run], comparison: null },
}

/** A service with one schedule. */
async function aScheduleService(t: Test, found: object = schedule) {
  const path = `/schedules/${ID}`
  const service = await aService(t, {
    'GET /schedules': pageOf(found),
    'POST /schedules': { data: found },
    [`GET ${path}`]: { data: found },
    [`PATCH ${path}`]: ({ body }) => ({ data: { ...found, status: body.suspend ? 'suspended' : 'active' } }),
    [`DELETE ${path}`]: noContent,
    [`GET ${path}/runs`]: { data: [run, run], pagination: { has_more: true, next_cursor: RUN } },
    [`POST ${path}/run`]: { id: RUN, status: 'pending' },
    [`POST ${path}/approve`]: { data: { run_id: RUN } },
    [`POST ${path}/undo-approval`]: { data: { run_id: RUN, baseline_run: 'scr_1' } },
  })
  const outputOf = async (words: string, ...more: string[]) => (await service.run(`schedules ${words}`, ...more)).stdout
  return { ...service, outputOf }
}

t.test('schedules list and get show when a schedule runs and how its last runs ended', async (t) => {
  const { outputOf } = await aScheduleService(t)
  const list = await outputOf('list')
  t.match(list, /^ID +NAME +SCHEDULE +TIME ZONE +STATUS +LAST RUN \(UTC\) +CHANGED \(UTC\) +NEXT RUN \(UTC\) +URL\n/)
  const row = `${ID} +home +@hourly +Europe/Zurich +active +2026-11-23 08:00 failed TIMEOUT +- +2026-11-24 08:00 +https://a.example/`
  t.match(list, new RegExp(`^${row}$`, 'm'))
  const get = await outputOf(`get ${ID}`)
  t.match(get, /^schedule +@hourly \(Europe\/Zurich\)$/m)
  t.match(get, new RegExp(`^run +${RUN}, 2026-11-23 08:00 UTC, failed TIMEOUT$`, 'm'))
  t.strictSame(JSON.parse(await outputOf('list --json')), schedule)
})

t.test('schedules list shows the last run, also one that a person started, and when and by how much the page last changed', async (t) => {
  const last_change = { id: RUN, scheduled_at: '2026-11-24T09:00:00.000Z', changed_ratio: 0.012 }
  const active_runs = [{ ...run, status: 'pending', error_code: null }]
  const { outputOf } = await aScheduleService(t, { ...schedule, last_run_at: '2026-11-25T10:15:30.000Z', last_change, active_runs })
  t.match(await outputOf('list'), / 2026-11-25 10:15 pending +2026-11-24 09:00 1.20% /)
})

t.test('schedules get shows why no runs can be created', async (t) => {
  const problem = { code: 'QUOTA_EXCEEDED', message: 'The monthly quota is used up.' }
  const { outputOf } = await aScheduleService(t, { ...schedule, status: 'blocked', problem })
  t.match(await outputOf(`get ${ID}`), /^problem +QUOTA_EXCEEDED: The monthly quota is used up.$/m)
  t.match(await outputOf('list'), 'blocked QUOTA_EXCEEDED')
})

t.test('schedules get shows all options, and those of the comparison', async (t) => {
  const comparison = { baseline: 'approved', threshold: 0.1, ignore: ['#clock'], accept_status: null, approvals: [], last: null }
  const options = { viewport_width: 1200, headers: '***', hide_selectors: ['.a', '.b'] }
  const { outputOf } = await aScheduleService(t, { ...schedule, options, comparison })
  const stdout = await outputOf(`get ${ID}`)
  t.match(stdout, /^option +viewport_width 1200\noption +headers \*\*\*\noption +hide_selectors \[".a",".b"\]$/m)
  t.match(stdout, /^option +compare approved\noption +compare_threshold 0.1\noption +compare_ignore \["#clock"\]$/m)
  t.notMatch(stdout, /compare_accept_status/)
})

t.test('schedules get and runs show what changed, and approve names the run', async (t) => {
  const last = {
    ...{ id: RUN, scheduled_at: run.scheduled_at, to: 'scr_1' },
    ...{ changed: true, changed_ratio: 0.0123, changed_pixels: 1, size_changed: false },
  }
  const completed = { ...run, status: 'completed', error_code: null, changed: true }
  const { requests, outputOf } = await aScheduleService(t, { ...schedule, recent_runs: [completed], comparison: { last } })
  const stdout = await outputOf(`get ${ID}`)
  t.match(stdout, new RegExp(`^compared +${RUN} with scr_1: changed \\(1.23% of the pixels\\)$`, 'm'))
  t.match(stdout, /UTC, completed, changed$/m)
  t.equal(await outputOf(`approve ${ID}`), `approved ${RUN}\n`)
  t.equal(await outputOf(`approve ${ID} ${RUN} --json`), `{"run_id":"${RUN}"}\n`)
  t.strictSame(requests.slice(1), [`POST /schedules/${ID}/approve {}`, `POST /schedules/${ID}/approve {"run_id":"${RUN}"}`])
})

t.test('schedules get shows the approvals and marks the approved run, and undo names the run', async (t) => {
  const approval = { run_id: RUN, approved_at: '2026-11-23T08:05:00.000Z', approved_by: 'key_1', replaced_run: 'scr_1', can_undo: true }
  const approvals = [
    { ...approval, undone_at: null, undone_by: null },
    { ...approval, replaced_run: null, undone_at: '2026-11-23T08:10:00.000Z', undone_by: 'key_2' },
  ]
  const completed = { ...run, status: 'completed', error_code: null }
  const comparison = { baseline: 'approved', baseline_run: RUN, last: null, approvals }
  const { requests, outputOf } = await aScheduleService(t, { ...schedule, recent_runs: [completed], comparison })
  const stdout = await outputOf(`get ${ID}`)
  t.match(stdout, new RegExp(`^approval +${RUN}, 2026-11-23 08:05 UTC by key_1, replaced scr_1$`, 'm'))
  t.match(stdout, new RegExp(`^approval +${RUN}, 2026-11-23 08:05 UTC by key_1, undone 2026-11-23 08:10 UTC by key_2$`, 'm'))
  t.match(stdout, /UTC, completed, approved$/m)
  t.equal(await outputOf(`undo ${ID}`), `undid the approval of ${RUN}; later runs are compared with scr_1\n`)
  t.equal(requests.at(-1), `POST /schedules/${ID}/undo-approval`)
})

const created: [what: string, args: string[], body: object][] = [
  [
    'the time and the options of the capture',
    [
      ...['0 9 * * *', 'a.example', '--name', 'home', '--time-zone', 'Europe/Zurich', '--suspend', '--concurrency-policy', 'allow'],
      ...['--spread-seconds', '30', '--full-page', '--external-identifier', 'home', '--timezone', 'Asia/Tokyo'],
    ],
    {
      ...{
        name: 'home',
        schedule: '0 9 * * *',
        time_zone: 'Europe/Zurich',
        suspend: true,
        concurrency_policy: 'allow',
        spread_seconds: 30,
      },
      ...{ external_identifier: 'home', url: 'https://a.example', options: { full_page: true, timezone: 'Asia/Tokyo' } },
    },
  ],
  [
    'the flags of comparisons as those of the runs',
    [
      ...['@daily', 'a.example', '--compare', 'approved', '--compare-threshold', '0.01'],
      ...['--compare-ignore', '#clock', '--no-compare-antialiasing'],
    ],
    {
      ...{ schedule: '@daily', url: 'https://a.example' },
      comparison: { baseline: 'approved', threshold: 0.01, antialiasing: false, ignore: ['#clock'] },
    },
  ],
  ['a page instead of a URL', ['@daily', '--html', '<p>'], { schedule: '@daily', options: { html: '<p>' } }],
]
for (const [what, args, body] of created) {
  t.test(`schedules create sends ${what}`, async (t) => {
    const { requests, run } = await aScheduleService(t)
    const { code, stderr } = await run('schedules create', ...args)
    t.equal(code, 0, stderr)
    t.equal(requests.length, 1)
    t.strictSame(JSON.parse(requests[0]!.replace('POST /schedules ', '')), body)
  })
}

t.test('schedules create warns when the time zone of the page is set, and not that of the schedule', async (t) => {
  const { run } = await aScheduleService(t)
  const warnings = async (words: string) => (await run(`schedules ${words}`)).stderr
  const create = 'create @daily a.example --timezone Europe/Zurich'
  t.match(await warnings(create), /warning: --timezone sets the time zone of the page. Set --time-zone for/)
  t.equal(await warnings(`${create} --time-zone Europe/Zurich`), '')
  t.match(await warnings(`update ${ID} --timezone UTC`), /Set --time-zone/)
})

t.test('schedules run prints the id of the run, and runs lists as many as the limit', async (t) => {
  const { requests, outputOf } = await aScheduleService(t)
  t.equal(await outputOf(`run ${ID}`), `${RUN}\n`)
  const stdout = await outputOf(`runs ${ID} --limit 3`)
  t.match(stdout, /^ID +DUE \(UTC\) +ENDED \(UTC\) +STATUS\n/)
  t.equal(stdout.trim().split('\n').length, 4)
  t.strictSame(requests, [
    `POST /schedules/${ID}/run`,
    `GET /schedules/${ID}/runs?limit=3`,
    `GET /schedules/${ID}/runs?limit=3&cursor=${RUN}`,
  ])
})

t.test('schedules suspend, resume and delete change the schedule', async (t) => {
  const { requests, outputOf } = await aScheduleService(t)
  t.equal(await outputOf(`suspend ${ID}`), `${ID} is suspended\n`)
  t.equal(await outputOf(`resume ${ID}`), `${ID} is active\n`)
  t.match(await outputOf('resume --help'), /The last missed run starts at once/)
  t.equal(await outputOf(`delete ${ID}`), `deleted ${ID}\n`)
  t.strictSame(requests, [`PATCH /schedules/${ID} {"suspend":true}`, `PATCH /schedules/${ID} {"suspend":false}`, `DELETE /schedules/${ID}`])
})

t.test('an unknown schedule ends with exit code 1', async (t) => {
  const { run } = await aScheduleService(t)
  t.match(await run('schedules get sch_00000000000000000000000000'), { code: 1, stderr: 'schedule not found' })
})

const compared = {
  ...schedule,
  options: { full_page: true, format: 'webp' },
  comparison: {
    ...{ baseline: 'approved', threshold: 0.001, color_tolerance: 0.1, antialiasing: false, ignore: [{ selector: '#clock' }] },
    ...{ baseline_run: RUN, last: null },
  },
}
const secret = { ...schedule, options: { full_page: true, headers: '***', styles: '…' } }

const updates: [what: string, args: string[], body: object, found?: object][] = [
  [
    'fields of the schedule as they are',
    [
      ...['--schedule', '0 6 * * *', '--url', 'b.example', '--no-suspend', '--starting-deadline-seconds', '60'],
      ...['--external-identifier', 'home', '--webhook-events', 'screenshot.failed'],
    ],
    {
      ...{ schedule: '0 6 * * *', url: 'https://b.example', suspend: false, starting_deadline_seconds: 60 },
      ...{ external_identifier: 'home', webhook_events: ['screenshot.failed'] },
    },
  ],
  ['only the options that are named', ['--dark-mode', '--format', 'png'], { options: { format: 'png', dark_mode: true } }, compared],
  ['only a threshold that is named', ['--compare-threshold', '0.2'], { comparison: { threshold: 0.2 } }, compared],
  ['only a baseline that is named', ['--compare', 'previous'], { comparison: { baseline: 'previous' } }, compared],
  ['a new comparison', ['--compare', 'previous', '--compare-ignore', '#a'], { comparison: { baseline: 'previous', ignore: ['#a'] } }],
  [
    'null for what --reset names',
    ['time-zone', 'name', 'webhook_url', 'compare'].flatMap((name) => ['--reset', name]),
    { time_zone: null, name: null, webhook_url: null, comparison: null },
    compared,
  ],
  ['null for an option that --reset names as a flag', ['--reset=--format'], { options: { format: null } }, compared],
  [
    'null for a setting of the comparison, beside an option',
    ['--reset', 'compare-ignore', '--full-page'],
    { comparison: { ignore: null }, options: { full_page: true } },
    compared,
  ],
  ['an option beside those that the service does not show', ['--dark-mode'], { options: { dark_mode: true } }, secret],
  [
    'an option in place of one that the service does not show',
    ['--dark-mode', '--headers', 'X-A=b', '--reset', 'styles'],
    { options: { headers: { 'X-A': 'b' }, dark_mode: true, styles: null } },
    secret,
  ],
]
for (const [what, args, body, found] of updates) {
  t.test(`schedules update sends ${what}, and reads nothing`, async (t) => {
    const { requests, run } = await aScheduleService(t, found)
    const { code, stderr } = await run(`schedules update ${ID}`, ...args)
    t.equal(code, 0, stderr)
    t.equal(requests.length, 1)
    t.strictSame(JSON.parse(requests[0]!.replace(`PATCH /schedules/${ID} `, '')), body)
  })
}

t.test('schedules create and update refuse what a schedule cannot have, and what changes nothing', async (t) => {
  const { requests, run } = await aScheduleService(t)
  for (const [words, message] of [
    ['create @hourly', /a URL is missing/],
    ['create @hourly a.example --html <p>', /replace the URL/],
    ['create @hourly a.example --cache', /unknown option --cache/],
    ['create @hourly a.example --async', /unknown option --async/],
    [`update ${ID}`, /nothing to change\. Add an option/],
    [`update ${ID} --reset ful-page`, /names no option with a default\. Did you mean full-page\?/],
    [`update ${ID} --reset schedule`, /names no option with a default/],
    [`update ${ID} --full-page --reset full-page`, /--full-page has a value, and --reset restores its default/],
    [`update ${ID} --reset --format --reset=format`, /--reset/],
    [`update ${ID} --async`, /unknown option --async/],
  ] as const)
    t.match(await run(`schedules ${words}`), { code: 2, stderr: message }, words)
  t.strictSame(requests, [])
})

t.test('schedules create and update print the options that were given, as the service shows them', async (t) => {
  const options = { full_page: true, authorization: '***', delay: 500 }
  const { outputOf } = await aScheduleService(t, { ...schedule, options, spread_seconds: 30 })
  const flags = ['--full-page', '--authorization', 'Bearer secret', '--spread-seconds', '30']
  const wanted = /^option +full_page true\noption +authorization \*\*\*\noption +spread_seconds 30\n/m
  const printed = await outputOf('create @daily a.example', ...flags)
  t.match(printed, wanted)
  t.notMatch(printed, /delay|secret/)
  t.match(await outputOf(`update ${ID}`, ...flags), wanted)
  t.match(await outputOf(`update ${ID} --reset image-width`), /^option +image_width default\n/m)
})
