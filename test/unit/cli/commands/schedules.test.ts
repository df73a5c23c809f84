import t, { type Test } from 'tap'
import { runCli, sendError, sendJson, serve } from '../fake-world.ts'

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

/** A service with one schedule. It keeps the method, the path and the body of each request. */
async function aService(t: Test, found: object = schedule) {
  const requests: string[] = []
  const { url, stop } = await serve(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const path = (request.url ?? '').replace(/^\/(api\/)?v1/, '')
    requests.push(`${request.method} ${path}${body && ` ${body}`}`)
    const { suspend } = JSON.parse(body || '{}') as { suspend?: boolean }
    if (path.startsWith(`/schedules/${ID}/runs`))
      sendJson(response, { success: true, data: [run, run], pagination: { has_more: true, next_cursor: RUN } })
    else if (path === `/schedules/${ID}/approve`) sendJson(response, { data: { run_id: RUN } }, 202)
    else if (path === `/schedules/${ID}/undo-approval`) sendJson(response, { data: { run_id: RUN, baseline_run: 'scr_1' } }, 202)
    else if (path === `/schedules/${ID}/run`) sendJson(response, { id: RUN, status: 'pending' }, 202)
    else if (request.method === 'DELETE') response.writeHead(204).end()
    else if (request.method === 'PATCH') sendJson(response, { data: { ...found, status: suspend ? 'suspended' : 'active' } })
    else if (request.method === 'POST') sendJson(response, { data: found }, 201)
    else if (path === `/schedules/${ID}`) sendJson(response, { success: true, data: found })
    else if (path.startsWith('/schedules?')) sendJson(response, { success: true, data: [found], pagination: { has_more: false } })
    else sendError(response, 404, 'NOT_FOUND', 'schedule not found')
  })
  t.teardown(stop)
  return { requests, environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } }
}

t.test('schedules list and get show when a schedule runs and how its last runs ended', async (t) => {
  const { environment } = await aService(t)
  const list = await runCli(['schedules', 'list'], { environment })
  t.match(list.stdout, /^ID +NAME +SCHEDULE +TIME ZONE +STATUS +LAST RUN \(UTC\) +CHANGED \(UTC\) +NEXT RUN \(UTC\) +URL\n/)
  t.match(
    list.stdout,
    new RegExp(
      `^${ID} +home +@hourly +Europe/Zurich +active +2026-11-23 08:00 failed TIMEOUT +- +2026-11-24 08:00 +https://a.example/$`,
      'm',
    ),
  )
  const get = await runCli(['schedules', 'get', ID], { environment })
  t.match(get.stdout, /^schedule +@hourly \(Europe\/Zurich\)$/m)
  t.match(get.stdout, new RegExp(`^run +${RUN}, 2026-11-23 08:00 UTC, failed TIMEOUT$`, 'm'))
  const json = await runCli(['schedules', 'list', '--json'], { environment })
  t.strictSame(JSON.parse(json.stdout), schedule)
})

t.test('schedules get shows why no runs can be created', async (t) => {
  const problem = { code: 'QUOTA_EXCEEDED', message: 'The monthly quota is used up.' }
  const { environment } = await aService(t, { ...schedule, status: 'blocked', problem })
  t.match((await runCli(['schedules', 'get', ID], { environment })).stdout, /^problem +QUOTA_EXCEEDED: The monthly quota is used up.$/m)
  t.match((await runCli(['schedules', 'list'], { environment })).stdout, 'blocked QUOTA_EXCEEDED')
})

t.test('schedules get shows all options, and those of the comparison', async (t) => {
  const comparison = { baseline: 'approved', threshold: 0.1, ignore: ['#clock'], accept_status: null, approvals: [], last: null }
  const options = { viewport_width: 1200, headers: '***', hide_selectors: ['.a', '.b'] }
  const { environment } = await aService(t, { ...schedule, options, comparison })
  const { stdout } = await runCli(['schedules', 'get', ID], { environment })
  t.match(stdout, /^option +viewport_width 1200\noption +headers \*\*\*\noption +hide_selectors \[".a",".b"\]$/m)
  t.match(stdout, /^option +compare approved\noption +compare_threshold 0.1\noption +compare_ignore \["#clock"\]$/m)
  t.notMatch(stdout, /compare_accept_status/)
})

t.test('schedules create sends the time and the options of the capture', async (t) => {
  const { requests, environment } = await aService(t)
  const timing = ['--name', 'home', '--time-zone', 'Europe/Zurich', '--suspend', '--concurrency-policy', 'allow', '--spread-seconds', '30']
  const capture = ['--full-page', '--external-identifier', 'home', '--timezone', 'Asia/Tokyo']
  const { code, stderr } = await runCli(['schedules', 'create', '0 9 * * *', 'a.example', ...timing, ...capture], { environment })
  t.equal(code, 0, stderr)
  const body = JSON.parse(requests[0]!.replace('POST /schedules ', ''))
  t.strictSame(body, {
    ...{ name: 'home', schedule: '0 9 * * *', time_zone: 'Europe/Zurich', suspend: true, concurrency_policy: 'allow', spread_seconds: 30 },
    ...{ external_identifier: 'home', url: 'https://a.example', options: { full_page: true, timezone: 'Asia/Tokyo' } },
  })
})

t.test('schedules create warns when the time zone of the page is set, and not that of the schedule', async (t) => {
  const { environment } = await aService(t)
  const create = async (...flags: string[]) =>
    (await runCli(['schedules', 'create', '@daily', 'a.example', ...flags], { environment })).stderr
  t.match(await create('--timezone', 'Europe/Zurich'), /warning: --timezone sets the time zone of the page. Set --time-zone for/)
  t.equal(await create('--timezone', 'Europe/Zurich', '--time-zone', 'Europe/Zurich'), '')
  t.match((await runCli(['schedules', 'update', ID, '--timezone', 'UTC'], { environment })).stderr, /Set --time-zone/)
})

t.test('schedules list shows the last run, also one that a person started, and when and by how much the page last changed', async (t) => {
  const shown = {
    last_run_at: '2026-11-25T10:15:30.000Z',
    last_change: { id: RUN, scheduled_at: '2026-11-24T09:00:00.000Z', changed_ratio: 0.012 },
  }
  const { environment } = await aService(t, { ...schedule, ...shown, active_runs: [{ ...run, status: 'pending', error_code: null }] })
  t.match((await runCli(['schedules', 'list'], { environment })).stdout, / 2026-11-25 10:15 pending +2026-11-24 09:00 1.20% /)
})

t.test('schedules create --compare makes the flags of comparisons those of the runs', async (t) => {
  const { requests, environment } = await aService(t)
  const flags = ['--compare', 'approved', '--compare-threshold', '0.01', '--compare-ignore', '#clock', '--no-compare-antialiasing']
  t.equal((await runCli(['schedules', 'create', '@daily', 'a.example', ...flags], { environment })).code, 0)
  t.strictSame(JSON.parse(requests[0]!.replace('POST /schedules ', '')), {
    ...{ schedule: '@daily', url: 'https://a.example' },
    comparison: { baseline: 'approved', threshold: 0.01, antialiasing: false, ignore: ['#clock'] },
  })
})

t.test('schedules get and runs show what changed, and approve names the run', async (t) => {
  const last = {
    id: RUN,
    scheduled_at: run.scheduled_at,
    to: 'scr_1',
    changed: true,
    changed_ratio: 0.0123,
    changed_pixels: 1,
    size_changed: false,
  }
  const completed = { ...run, status: 'completed', error_code: null, changed: true }
  const { requests, environment } = await aService(t, { ...schedule, recent_runs: [completed], comparison: { last } })
  const { stdout } = await runCli(['schedules', 'get', ID], { environment })
  t.match(stdout, new RegExp(`^compared +${RUN} with scr_1: changed \\(1.23% of the pixels\\)$`, 'm'))
  t.match(stdout, /UTC, completed, changed$/m)
  t.equal((await runCli(['schedules', 'approve', ID], { environment })).stdout, `approved ${RUN}\n`)
  t.equal((await runCli(['schedules', 'approve', ID, RUN, '--json'], { environment })).stdout, `{"run_id":"${RUN}"}\n`)
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
  const { requests, environment } = await aService(t, { ...schedule, recent_runs: [completed], comparison })
  const { stdout } = await runCli(['schedules', 'get', ID], { environment })
  t.match(stdout, new RegExp(`^approval +${RUN}, 2026-11-23 08:05 UTC by key_1, replaced scr_1$`, 'm'))
  t.match(stdout, new RegExp(`^approval +${RUN}, 2026-11-23 08:05 UTC by key_1, undone 2026-11-23 08:10 UTC by key_2$`, 'm'))
  t.match(stdout, /UTC, completed, approved$/m)
  const undone = await runCli(['schedules', 'undo', ID], { environment })
  t.equal(undone.stdout, `undid the approval of ${RUN}; later runs are compared with scr_1\n`)
  t.equal(requests.at(-1), `POST /schedules/${ID}/undo-approval`)
})

t.test('schedules create accepts a page instead of a URL', async (t) => {
  const { requests, environment } = await aService(t)
  t.equal((await runCli(['schedules', 'create', '@daily', '--html', '<p>'], { environment })).code, 0)
  t.strictSame(requests, ['POST /schedules {"schedule":"@daily","options":{"html":"<p>"}}'])
})

t.test('schedules create refuses what a schedule cannot have', async (t) => {
  const { requests, environment } = await aService(t)
  const cases: [args: string[], message: RegExp][] = [
    [['@hourly'], /a URL is missing/],
    [['@hourly', 'a.example', '--html', '<p>'], /replace the URL/],
    [['@hourly', 'a.example', '--cache'], /unknown option --cache/],
    [['@hourly', 'a.example', '--async'], /unknown option --async/],
  ]
  for (const [args, message] of cases) {
    const { code, stderr } = await runCli(['schedules', 'create', ...args], { environment })
    t.equal(code, 2)
    t.match(stderr, message)
  }
  t.strictSame(requests, [])
})

t.test('schedules run prints the id of the run, and runs lists as many as the limit', async (t) => {
  const { requests, environment } = await aService(t)
  t.equal((await runCli(['schedules', 'run', ID], { environment })).stdout, `${RUN}\n`)
  const { stdout } = await runCli(['schedules', 'runs', ID, '--limit', '3'], { environment })
  t.match(stdout, /^ID +DUE \(UTC\) +ENDED \(UTC\) +STATUS\n/)
  t.equal(stdout.trim().split('\n').length, 4)
  t.strictSame(requests, [
    `POST /schedules/${ID}/run`,
    `GET /schedules/${ID}/runs?limit=3`,
    `GET /schedules/${ID}/runs?limit=3&cursor=${RUN}`,
  ])
})

t.test('schedules suspend, resume and delete change the schedule', async (t) => {
  const { requests, environment } = await aService(t)
  t.equal((await runCli(['schedules', 'suspend', ID], { environment })).stdout, `${ID} is suspended\n`)
  t.equal((await runCli(['schedules', 'resume', ID], { environment })).stdout, `${ID} is active\n`)
  t.match((await runCli(['schedules', 'resume', '--help'], { environment })).stdout, /The last missed run starts at once/)
  t.equal((await runCli(['schedules', 'delete', ID], { environment })).stdout, `deleted ${ID}\n`)
  t.strictSame(requests, [`PATCH /schedules/${ID} {"suspend":true}`, `PATCH /schedules/${ID} {"suspend":false}`, `DELETE /schedules/${ID}`])
})

t.test('an unknown schedule ends with exit code 1', async (t) => {
  const { environment } = await aService(t)
  const { code, stderr } = await runCli(['schedules', 'get', 'sch_00000000000000000000000000'], { environment })
  t.equal(code, 1)
  t.match(stderr, 'schedule not found')
})

/** Sends `schedules update ID` with these flags. Returns the body of the change, and the methods of all requests. */
async function update(t: Test, flags: string[], found: object = schedule) {
  const { requests, environment } = await aService(t, found)
  const { code, stderr } = await runCli(['schedules', 'update', ID, ...flags], { environment })
  const patch = requests.find((request) => request.startsWith('PATCH'))
  return {
    code,
    stderr,
    methods: requests.map((request) => request.split(' ')[0]),
    body: patch && JSON.parse(patch.replace(`PATCH /schedules/${ID} `, '')),
  }
}

const compared = {
  ...schedule,
  options: { full_page: true, format: 'webp' },
  comparison: {
    ...{ baseline: 'approved', threshold: 0.001, color_tolerance: 0.1, antialiasing: false, ignore: [{ selector: '#clock' }] },
    ...{ baseline_run: RUN, last: null },
  },
}

t.test('schedules update sends fields of the schedule as they are', async (t) => {
  const timing = ['--schedule', '0 6 * * *', '--url', 'b.example', '--no-suspend', '--starting-deadline-seconds', '60']
  const { code, stderr, methods, body } = await update(t, [
    ...timing,
    '--external-identifier',
    'home',
    '--webhook-events',
    'screenshot.failed',
  ])
  t.equal(code, 0, stderr)
  t.strictSame(methods, ['PATCH'])
  t.strictSame(body, {
    ...{ schedule: '0 6 * * *', url: 'https://b.example', suspend: false, starting_deadline_seconds: 60 },
    ...{ external_identifier: 'home', webhook_events: ['screenshot.failed'] },
  })
})

t.test('schedules update sends only the options that are named, and reads nothing', async (t) => {
  const { methods, body } = await update(t, ['--dark-mode', '--format', 'png'], compared)
  t.strictSame(methods, ['PATCH'])
  t.strictSame(body, { options: { format: 'png', dark_mode: true } })
})

t.test('schedules update sends only the settings of the comparison that are named', async (t) => {
  t.strictSame((await update(t, ['--compare-threshold', '0.2'], compared)).body, { comparison: { threshold: 0.2 } })
  t.strictSame((await update(t, ['--compare', 'previous'], compared)).body, { comparison: { baseline: 'previous' } })
  t.strictSame((await update(t, ['--compare', 'previous', '--compare-ignore', '#a'])).body, {
    comparison: { baseline: 'previous', ignore: ['#a'] },
  })
})

t.test('schedules update --reset restores defaults with null', async (t) => {
  const resets = ['time-zone', 'name', 'webhook_url', 'compare'].flatMap((name) => ['--reset', name])
  t.strictSame((await update(t, resets, compared)).body, { time_zone: null, name: null, webhook_url: null, comparison: null })
  t.strictSame((await update(t, ['--reset', '--format', '--reset=format'], compared)).code, 2, 'a value that looks like a flag')
  t.strictSame((await update(t, ['--reset=--format'], compared)).body, { options: { format: null } })
  const { body, methods } = await update(t, ['--reset', 'compare-ignore', '--full-page'], compared)
  t.strictSame(body, { comparison: { ignore: null }, options: { full_page: true } })
  t.strictSame(methods, ['PATCH'])
})

t.test('schedules update does not ask for options that the service does not show', async (t) => {
  const secret = { ...schedule, options: { full_page: true, headers: '***', styles: '…' } }
  const { code, stderr, methods, body } = await update(t, ['--dark-mode'], secret)
  t.equal(code, 0, stderr)
  t.strictSame(methods, ['PATCH'])
  t.strictSame(body, { options: { dark_mode: true } })
  const changed = await update(t, ['--dark-mode', '--headers', 'X-A=b', '--reset', 'styles'], secret)
  t.strictSame(changed.body, { options: { headers: { 'X-A': 'b' }, dark_mode: true, styles: null } })
})

t.test('schedules update refuses what changes nothing', async (t) => {
  const cases: [args: string[], message: RegExp][] = [
    [[], /nothing to change\. Add an option/],
    [['--reset', 'ful-page'], /names no option with a default\. Did you mean full-page\?/],
    [['--reset', 'schedule'], /names no option with a default/],
    [['--full-page', '--reset', 'full-page'], /--full-page has a value, and --reset restores its default/],
    [['--async'], /unknown option --async/],
  ]
  for (const [args, message] of cases) {
    const { code, stderr, methods } = await update(t, args)
    t.equal(code, 2)
    t.match(stderr, message)
    t.strictSame(methods, [])
  }
})

t.test('schedules create and update print the options that were given, as the service shows them', async (t) => {
  const options = { full_page: true, authorization: '***', delay: 500 }
  const { environment } = await aService(t, { ...schedule, options, spread_seconds: 30 })
  const flags = ['--full-page', '--authorization', 'Bearer secret', '--spread-seconds', '30']
  const wanted = /^option +full_page true\noption +authorization \*\*\*\noption +spread_seconds 30\n/m
  const created = await runCli(['schedules', 'create', '@daily', 'a.example', ...flags], { environment })
  t.match(created.stdout, wanted)
  t.notMatch(created.stdout, /delay|secret/)
  t.match((await runCli(['schedules', 'update', ID, ...flags], { environment })).stdout, wanted)
  t.match((await runCli(['schedules', 'update', ID, '--reset', 'image-width'], { environment })).stdout, /^option +image_width default\n/m)
})
