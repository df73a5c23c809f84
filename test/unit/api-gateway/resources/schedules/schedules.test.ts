import t from 'tap'
import { assertSome } from '../../../../support/accepts.ts'
import { NOW } from '../../fakes.ts'
import { type Refusal, testRefusals } from '../../requests.ts'
import { aScheduleGateway, hourly, url } from './schedule-gateway.ts'

const everything = {
  name: 'home page',
  schedule: '0 9 * * MON-FRI',
  time_zone: 'Europe/Zurich',
  suspend: true,
  concurrency_policy: 'allow',
  starting_deadline_seconds: 60,
  spread_seconds: 30,
  url,
  options: { full_page: true, format: 'webp' },
  external_identifier: 'home',
  attachment_name: 'home.webp',
  download_url_ttl: 3_600,
  retention_days: 7,
  webhook_url: 'https://hooks.example.com/in',
  webhook_events: ['screenshot.completed'],
}

t.test('POST /schedules stores every field, and returns the documented record', async (t) => {
  const { call, newest, webhooks, keyId } = aScheduleGateway()
  const created = await call('POST', '/schedules', everything)
  const { id, ...record } = created.body.data
  t.match(created, { status: 201, body: { message: 'Schedule created successfully' }, headers: { location: `/api/v1/schedules/${id}` } })
  t.match(id, /^sch_[0-9a-z]{26}$/)
  t.strictSame(record, {
    ...everything,
    comparison: null,
    capture_policy: { key_id: keyId, allowed_hosts: null, allowed_request_hosts: null, allowed_options: null, allow_own_content: null },
    ...{ status: 'suspended', problem: null, next_run_at: null, last_run_at: null, last_success_at: null },
    ...{ last_change: null, active_runs: [], recent_runs: [], created_at: NOW.toISOString(), updated_at: NOW.toISOString() },
  })
  t.strictSame(newest().spec, {
    accountName: 'acme',
    name: 'home page',
    schedule: '0 9 * * MON-FRI',
    timeZone: 'Europe/Zurich',
    suspend: true,
    concurrencyPolicy: 'Allow',
    startingDeadlineSeconds: 60,
    spreadSeconds: 30,
    template: {
      url,
      externalIdentifier: 'home',
      attachmentName: 'home.webp',
      downloadUrlTtlSeconds: 3_600,
      retentionDays: 7,
      webhookUrl: 'https://hooks.example.com/in',
      webhookEvents: ['screenshot.completed'],
      options: { fullPage: true, format: 'webp' },
      capturePolicy: { keyId },
    },
  })
  assertSome(t, webhooks.objects, ({ spec }) => spec.isDefault, 'the default webhook signs posts to webhook_url')
})

t.test('POST /schedules accepts only a URL and a time, and fills in the defaults', async (t) => {
  const { call, newest, keyId } = aScheduleGateway()
  const { body } = await call('POST', '/schedules', hourly)
  t.match(body.data, { time_zone: 'UTC', suspend: false, concurrency_policy: 'forbid', spread_seconds: 0, status: 'active', options: {} })
  t.equal(body.data.name, newest().metadata.name)
  t.strictSame(newest().spec, { accountName: 'acme', schedule: '@hourly', template: { url, capturePolicy: { keyId } } })
})

const ofVideo = { webhook_url: 'https://hooks.example.com/', webhook_events: ['video.failed'] }
const refused: Refusal[] = [
  ['no time and no page', {}, 'schedule required', 'url required'],
  ['a name of blanks', { ...hourly, name: ' \t ' }, 'name invalid_value'],
  ['an offset as a zone', { ...hourly, time_zone: '+01:00' }, 'time_zone invalid_value'],
  ['a policy that CronJob has', { ...hourly, concurrency_policy: 'replace' }, 'concurrency_policy invalid_value'],
  ['no deadline', { ...hourly, starting_deadline_seconds: 0 }, 'starting_deadline_seconds too_small'],
  ['an unknown field', { ...hourly, shedule: '@daily' }, 'shedule unknown_field'],
  ['an unknown option', { ...hourly, options: { fullpage: true } }, 'options.fullpage unknown_field'],
  ['an option of the cache', { ...hourly, options: { cache: true } }, 'options.cache not_allowed'],
  ['a wait', { ...hourly, async: false }, 'async unknown_field'],
  ['a local page', { ...hourly, url: 'http://127.0.0.1/' }, 'url url_not_allowed'],
  ['a URL and a page', { ...hourly, options: { html: '<p>' } }, 'url contradiction'],
  ['events without an endpoint', { ...hourly, webhook_events: ['screenshot.failed'] }, 'webhook_events required'],
  ['events of a video', { ...hourly, ...ofVideo }, 'webhook_events[0] invalid_value'],
  ['more days than the plan has', { ...hourly, retention_days: 365 }, 'retention_days too_big'],
]
const shared = aScheduleGateway()
testRefusals(
  'POST /schedules',
  refused,
  (body) => shared.call('POST', '/schedules', body),
  () => shared.schedules.objects.length,
)

t.test('POST and PATCH explain what is wrong with a time, a zone or a bound', async (t) => {
  const { call, create } = aScheduleGateway()
  const { patch } = await create()
  const wrong: [change: object, message: string | RegExp][] = [
    [{ schedule: '0 25 * * *' }, 'schedule: the hour 25 is not valid. Use a number from 0 to 23'],
    [{ schedule: '0 0 31 2 *' }, 'schedule: no date in the next nine years matches the expression'],
    [{ time_zone: 'Mars/Base' }, 'time_zone: must be a name of the IANA database such as Europe/Zurich or UTC'],
    [{ spread_seconds: 86_401 }, /spread_seconds must be at most 86400/],
    [{ comparison: { threshold: 2 } }, /comparison.threshold must be at most 1/],
    [{ comparison: { baseline: 'last' } }, /^comparison.baseline must be one of/],
    [{ comparison: { tolerance: 1 } }, /^tolerance is not known here/],
    [{ comparison: { ignore: [{}] } }, /^comparison.ignore\[0\]: must have either selector, or x/],
    [{ comparison: {}, options: { compare_threshold: 0.1 } }, /compare_threshold/],
    [{ comparison: {}, options: { format: 'pdf' } }, /comparison needs a picture: set options.format/],
    [{ timezone: 'Europe/Zurich' }, /timezone is not known here; did you mean time_zone\?/],
  ]
  for (const [change, message] of wrong)
    for (const response of [await call('POST', '/schedules', { ...hourly, ...change }), await patch(change)])
      t.match(response, { status: 400, body: { error: { message } } }, JSON.stringify(change))
})

t.test('a schedule can record videos, with events of videos', async (t) => {
  const { create, newest } = aScheduleGateway()
  await create({ ...hourly, ...ofVideo, options: { format: 'mp4' } })
  t.match(newest().spec.template, { options: { format: 'mp4' }, webhookEvents: ['video.failed'] })
})

t.test('an option that the service does not allow is refused', async (t) => {
  const { call } = aScheduleGateway({ optionPolicy: { scripts: false, proxy: true, storage: true, insecure: true } as never })
  const response = await call('POST', '/schedules', { ...hourly, options: { scripts: 'alert(1)' } })
  t.match(response, { status: 403, body: { error: { code: 'OPTION_NOT_ALLOWED' } } })
})

t.test('private options and credentials are sealed to the schedule and its URL, and shown as ***', async (t) => {
  const { create, newest, openSealed } = aScheduleGateway()
  const { get } = await create({ ...hourly, options: { basic_auth_username: 'ada', basic_auth_password: 'lovelace', full_page: true } })
  t.notMatch(JSON.stringify(newest()), /lovelace/)
  t.strictSame(await openSealed(), { privateOptions: { basicAuthUsername: 'ada', basicAuthPassword: 'lovelace' } })
  t.strictSame((await get()).options, { full_page: true, basic_auth_username: '***', basic_auth_password: '***' })
})

t.test('GET /schedules/:id shows what the operator reports', async (t) => {
  const { call, create, schedules } = aScheduleGateway()
  const { path } = await create()
  const run = { id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6z', time: '2026-11-21T09:00:00Z' }
  const status = {
    nextScheduleTime: '2026-11-21T11:00:00Z',
    lastScheduleTime: '2026-11-21T10:00:00Z',
    lastSuccessfulTime: '2026-11-21T08:00:00Z',
    lastRunTime: '2026-11-21T10:07:00Z',
    lastChange: { id: run.id, time: '2026-11-20T10:00:00Z', changedRatio: 0.5, share: '50 %' },
    active: [{ ...run, time: '2026-11-21T10:00:00Z' }],
    recentRuns: [{ ...run, outcome: 'failed', completionTime: '2026-11-21T09:00:07Z', code: 'TIMEOUT' }],
    conditions: [{ type: 'Ready', status: 'False', reason: 'QuotaExceeded', message: 'The quota is used up.', lastTransitionTime: '' }],
  }
  schedules.change((schedule) => Object.assign(schedule, { status }))
  const { body, headers } = await call('GET', path)
  const open = { status: 'pending', completed_at: null, error_code: null, changed: null }
  t.match(body.data, {
    status: 'blocked',
    problem: { code: 'QUOTA_EXCEEDED', message: 'The quota is used up.' },
    next_run_at: '2026-11-21T11:00:00.000Z',
    last_run_at: '2026-11-21T10:07:00.000Z',
    last_change: { id: run.id, scheduled_at: '2026-11-20T10:00:00.000Z', changed_ratio: 0.5 },
    last_success_at: '2026-11-21T08:00:00.000Z',
    active_runs: [{ id: run.id, scheduled_at: '2026-11-21T10:00:00.000Z', ...open }],
    recent_runs: [{ status: 'failed', completed_at: '2026-11-21T09:00:07.000Z', error_code: 'TIMEOUT' }],
  })
  t.equal((await call('GET', path, undefined, { 'if-none-match': String(headers.etag) })).status, 304)
})
