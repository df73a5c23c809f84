import t from 'tap'
import { unseal } from '../../../../../crds/src/crypto/sealed.ts'
import type { ScreenshotSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { DEFAULT_OPTION_POLICY } from '../../../../../crds/src/options/policy.ts'
import { calling } from '../../calling.ts'
import { aGateway, NOW, OPENING_KEY } from '../../fakes.ts'

type Gateway = ReturnType<typeof aGateway>

const url = 'https://example.com/'
const hourly = { schedule: '@hourly', url }
const newest = ({ schedules }: Gateway): ScreenshotSchedule => schedules.objects.at(-1)!
const detailsOf = (response: { body: { error: { details: { path: string; code: string }[] } } }) =>
  response.body.error.details.map(({ path, code }) => `${path} ${code}`)

/** Creates a schedule. Returns its id. */
async function create(gateway: Gateway, body: object): Promise<string> {
  const created = await calling(gateway)('POST', '/schedules', body)
  t.equal(created.status, 201, JSON.stringify(created.body))
  return created.body.data.id
}

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
  const gateway = aGateway()
  const created = await calling(gateway)('POST', '/schedules', everything)
  const { id, ...record } = created.body.data
  t.match(created, { status: 201, body: { message: 'Schedule created successfully' }, headers: { location: `/api/v1/schedules/${id}` } })
  t.match(id, /^sch_[0-9a-z]{26}$/)
  t.strictSame(record, {
    ...everything,
    comparison: null,
    ...{ status: 'suspended', problem: null, next_run_at: null, last_run_at: null, last_success_at: null },
    ...{ last_change: null, active_runs: [], recent_runs: [], created_at: NOW.toISOString(), updated_at: NOW.toISOString() },
  })
  t.strictSame(newest(gateway).spec, {
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
    },
  })
  t.ok(
    gateway.webhooks.objects.some(({ spec }) => spec.isDefault),
    'the default webhook signs posts to webhook_url',
  )
})

t.test('POST /schedules accepts only a URL and a time, and fills in the defaults', async (t) => {
  const gateway = aGateway()
  const { body } = await calling(gateway)('POST', '/schedules', hourly)
  t.match(body.data, { time_zone: 'UTC', suspend: false, concurrency_policy: 'forbid', spread_seconds: 0, status: 'active', options: {} })
  t.equal(body.data.name, newest(gateway).metadata.name)
  t.strictSame(newest(gateway).spec, { accountName: 'acme', schedule: '@hourly', template: { url } })
})

const refused: { name: string; body: object; details: string[] }[] = [
  { name: 'no time and no page', body: {}, details: ['schedule required', 'url required'] },
  { name: 'a name of blanks', body: { ...hourly, name: ' \t ' }, details: ['name invalid_value'] },
  { name: 'a name of invisible characters', body: { ...hourly, name: '\u200b\u00a0\u3164\ufe0f' }, details: ['name invalid_value'] },
  { name: 'a wrong cron expression', body: { ...hourly, schedule: '61 * * * *' }, details: ['schedule invalid_value'] },
  { name: 'too few fields', body: { ...hourly, schedule: '* * * *' }, details: ['schedule invalid_value'] },
  { name: 'a date that never comes', body: { ...hourly, schedule: '0 0 31 2 *' }, details: ['schedule invalid_value'] },
  { name: 'an unknown zone', body: { ...hourly, time_zone: 'Europe/Zuerich' }, details: ['time_zone invalid_value'] },
  { name: 'an offset as a zone', body: { ...hourly, time_zone: '+01:00' }, details: ['time_zone invalid_value'] },
  { name: 'a policy that CronJob has', body: { ...hourly, concurrency_policy: 'replace' }, details: ['concurrency_policy invalid_value'] },
  { name: 'no deadline', body: { ...hourly, starting_deadline_seconds: 0 }, details: ['starting_deadline_seconds too_small'] },
  { name: 'a spread of more than a day', body: { ...hourly, spread_seconds: 86_401 }, details: ['spread_seconds too_big'] },
  { name: 'an unknown field', body: { ...hourly, shedule: '@daily' }, details: ['shedule unknown_field'] },
  { name: 'an unknown option', body: { ...hourly, options: { fullpage: true } }, details: ['options.fullpage unknown_field'] },
  { name: 'an option of the cache', body: { ...hourly, options: { cache: true } }, details: ['options.cache not_allowed'] },
  { name: 'a wait', body: { ...hourly, async: false }, details: ['async unknown_field'] },
  { name: 'a local page', body: { ...hourly, url: 'http://127.0.0.1/' }, details: ['url url_not_allowed'] },
  {
    name: 'a URL and a page',
    body: { ...hourly, options: { html: '<p>' } },
    details: ['url contradiction'],
  },
  { name: 'events without an endpoint', body: { ...hourly, webhook_events: ['screenshot.failed'] }, details: ['webhook_events required'] },
  {
    name: 'events of a video',
    body: { ...hourly, webhook_url: 'https://hooks.example.com/', webhook_events: ['video.failed'] },
    details: ['webhook_events[0] invalid_value'],
  },
  { name: 'more days than the plan has', body: { ...hourly, retention_days: 365 }, details: ['retention_days too_big'] },
]
for (const { name, body, details } of refused) {
  t.test(`POST /schedules refuses ${name} with the reason`, async (t) => {
    const gateway = aGateway()
    const response = await calling(gateway)('POST', '/schedules', body)
    t.equal(response.status, 400)
    t.strictSame(detailsOf(response), details)
    t.equal(gateway.schedules.objects.length, 0)
  })
}

t.test('a wrong cron expression or zone is explained', async (t) => {
  const call = calling(aGateway())
  const messages = await Promise.all(
    [{ schedule: '0 25 * * *' }, { schedule: '0 0 31 2 *' }, { time_zone: 'Mars/Base' }].map(async (wrong) => {
      const { body } = await call('POST', '/schedules', { ...hourly, ...wrong })
      return body.error.message
    }),
  )
  t.strictSame(messages, [
    'schedule: the hour 25 is not valid. Use a number from 0 to 23',
    'schedule: no date in the next nine years matches the expression',
    'time_zone: must be a name of the IANA database such as Europe/Zurich or UTC',
  ])
})

t.test('a schedule can record videos, with events of videos', async (t) => {
  const gateway = aGateway()
  const body = { ...hourly, options: { format: 'mp4' }, webhook_url: 'https://hooks.example.com/', webhook_events: ['video.failed'] }
  await create(gateway, body)
  t.match(newest(gateway).spec.template, { options: { format: 'mp4' }, webhookEvents: ['video.failed'] })
})

t.test('an option that the service does not allow is refused', async (t) => {
  const gateway = aGateway({ optionPolicy: { scripts: false, proxy: true, storage: true, insecure: true } as never })
  const response = await calling(gateway)('POST', '/schedules', { ...hourly, options: { scripts: 'alert(1)' } })
  t.match(response, { status: 403, body: { error: { code: 'OPTION_NOT_ALLOWED' } } })
})

t.test('an account has a limited number of schedules', async (t) => {
  const call = calling(aGateway({ maxSchedules: 1 }))
  t.equal((await call('POST', '/schedules', hourly)).status, 201)
  t.match(await call('POST', '/schedules', hourly), { status: 409, body: { error: { code: 'LIMIT_REACHED', details: { limit: 1 } } } })
})

t.test('a repeated Idempotency-Key creates one schedule', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const key = { 'idempotency-key': 'once' }
  const first = await call('POST', '/schedules', hourly, key)
  const second = await call('POST', '/schedules', hourly, key)
  t.equal(second.headers['idempotent-replayed'], 'true')
  t.strictSame(second.body.data, first.body.data)
  t.equal(gateway.schedules.objects.length, 1)
  t.match(await call('POST', '/schedules', { ...hourly, schedule: '@daily' }, key), { status: 422 })
})

t.test('private options and credentials are sealed to the schedule and its URL, and shown as ***', async (t) => {
  const gateway = aGateway()
  const options = { basic_auth_username: 'ada', basic_auth_password: 'lovelace', full_page: true }
  const id = await create(gateway, { ...hourly, options })
  const { metadata, spec } = newest(gateway)
  t.notMatch(JSON.stringify(newest(gateway)), /lovelace/)
  const sealedFor = { purpose: 'options', subject: metadata.name, account: 'acme', url } as const
  t.strictSame(JSON.parse(await unseal(spec.template.sealedOptions!, sealedFor, [OPENING_KEY])), {
    privateOptions: { basicAuthUsername: 'ada', basicAuthPassword: 'lovelace' },
  })
  const { body } = await calling(gateway)('GET', `/schedules/${id}`)
  t.strictSame(body.data.options, { full_page: true, basic_auth_username: '***', basic_auth_password: '***' })
})

t.test(
  'options that are too large for an object are sealed under schedules/, stay there, and are emptied when they are removed',
  async (t) => {
    const gateway = aGateway()
    const id = await create(gateway, { ...hourly, options: { styles: 'p{}'.repeat(4_000), full_page: true } })
    const { metadata } = newest(gateway)
    const key = `schedules/acme/${metadata.name}.jwe`
    t.match(newest(gateway).spec.template, { options: { fullPage: true }, optionsObject: key, hiddenOptions: ['styles'] })
    const open = async () =>
      JSON.parse(
        await unseal(gateway.objects.objects.get(key)!, { purpose: 'large-options', subject: metadata.name, account: 'acme' }, [
          OPENING_KEY,
        ]),
      )
    t.match(await open(), { options: { styles: /^p/ } })
    const sealed = gateway.objects.objects.get(key)
    const kept = await calling(gateway)('PATCH', `/schedules/${id}`, { options: { dark_mode: true }, url: 'https://example.org/' })
    t.strictSame(kept.body.data.options, { full_page: true, dark_mode: true, styles: '…' })
    t.match(newest(gateway).spec.template, { url: 'https://example.org/', optionsObject: key, hiddenOptions: ['styles'] })
    t.equal(gateway.objects.objects.get(key), sealed)
    const removed = { styles: null, full_page: null, dark_mode: null, format: 'jpeg' }
    const { body } = await calling(gateway)('PATCH', `/schedules/${id}`, { options: removed, url })
    t.strictSame(body.data.options, { format: 'jpeg' })
    t.strictSame(newest(gateway).spec.template, { url, options: { format: 'jpeg' }, optionsObject: key })
    t.strictSame(await open(), {})
  },
)

t.test('GET /schedules lists the schedules of the account, page by page', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const ids = [await create(gateway, hourly), await create(gateway, { ...hourly, suspend: true })]
  gateway.schedules.objects.push({
    ...newest(gateway),
    metadata: { ...newest(gateway).metadata, name: 'x' },
    spec: { ...newest(gateway).spec, accountName: 'other' },
  })
  const { body } = await call('GET', '/schedules')
  t.strictSame(
    body.data.map(({ id }: { id: string }) => id),
    ids,
  )
  t.strictSame(body.pagination, { limit: 100, offset: 0, total: 2, has_more: false })
  t.match((await call('GET', '/schedules?limit=1')).body, { data: { length: 1 }, pagination: { total: 2, has_more: true } })
})

t.test('POST /schedules with timezone returns an error that suggests time_zone', async (t) => {
  const { status, body } = await calling(aGateway())('POST', '/schedules', { ...hourly, timezone: 'Europe/Zurich' })
  t.match({ status, body }, { status: 400, body: { error: { message: /timezone is not known here; did you mean time_zone\?/ } } })
})

t.test('GET /schedules/:id shows what the operator reports', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, hourly)
  const run = { id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6z', time: '2026-11-21T09:00:00Z' }
  newest(gateway).status = {
    nextScheduleTime: '2026-11-21T11:00:00Z',
    lastScheduleTime: '2026-11-21T10:00:00Z',
    lastSuccessfulTime: '2026-11-21T08:00:00Z',
    lastRunTime: '2026-11-21T10:07:00Z',
    lastChange: { id: run.id, time: '2026-11-20T10:00:00Z', changedRatio: 0.5, share: '50 %' },
    active: [{ ...run, time: '2026-11-21T10:00:00Z' }],
    recentRuns: [{ ...run, outcome: 'failed', completionTime: '2026-11-21T09:00:07Z', code: 'TIMEOUT' }],
    conditions: [{ type: 'Ready', status: 'False', reason: 'QuotaExceeded', message: 'The quota is used up.', lastTransitionTime: '' }],
  }
  const { body, headers } = await calling(gateway)('GET', `/schedules/${id}`)
  t.match(body.data, {
    status: 'blocked',
    problem: { code: 'QUOTA_EXCEEDED', message: 'The quota is used up.' },
    next_run_at: '2026-11-21T11:00:00.000Z',
    last_run_at: '2026-11-21T10:07:00.000Z',
    last_change: { id: run.id, scheduled_at: '2026-11-20T10:00:00.000Z', changed_ratio: 0.5 },
    last_success_at: '2026-11-21T08:00:00.000Z',
    active_runs: [
      { id: run.id, scheduled_at: '2026-11-21T10:00:00.000Z', status: 'pending', completed_at: null, error_code: null, changed: null },
    ],
    recent_runs: [{ status: 'failed', completed_at: '2026-11-21T09:00:07.000Z', error_code: 'TIMEOUT' }],
  })
  const same = await calling(gateway)('GET', `/schedules/${id}`, undefined, { 'if-none-match': String(headers.etag) })
  t.equal(same.status, 304)
})

t.test('PATCH /schedules/:id changes the fields that are sent, and null restores defaults', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, everything)
  const call = calling(gateway)
  const { body } = await call('PATCH', `/schedules/${id}`, {
    suspend: false,
    time_zone: null,
    external_identifier: null,
    webhook_url: null,
    webhook_events: null,
  })
  t.match(body, {
    message: 'Schedule updated successfully',
    data: { suspend: false, time_zone: 'UTC', external_identifier: null, webhook_url: null },
  })
  t.match(body.data, { schedule: everything.schedule, options: everything.options, concurrency_policy: 'allow', retention_days: 7 })
  t.notHas(newest(gateway).spec, 'timeZone')
  t.notHas(newest(gateway).spec.template, 'webhookUrl')
})

t.test('PATCH /schedules/:id merges options, also nested ones, and null removes them', async (t) => {
  const gateway = aGateway()
  const features = { 'color-gamut': 'p3', 'any-pointer': 'fine' }
  const id = await create(gateway, { ...hourly, options: { full_page: true, format: 'webp', media_features: features } })
  const patch = async (body: object) => (await calling(gateway)('PATCH', `/schedules/${id}`, body)).body.data.options
  const nested = { 'any-pointer': null, 'any-hover': 'none' }
  t.strictSame(await patch({ options: { dark_mode: true, full_page: null, media_features: nested } }), {
    ...{ format: 'webp', dark_mode: true },
    media_features: { 'color-gamut': 'p3', 'any-hover': 'none' },
  })
  t.strictSame(Object.keys(await patch({ options: { media_features: null } })), ['format', 'dark_mode'])
  t.strictSame(await patch({ options: {} }), { format: 'webp', dark_mode: true }, 'an empty object changes nothing')
  t.strictSame(await patch({ options: null }), {})
  t.strictSame(newest(gateway).spec.template, { url })
})

t.test('PATCH /schedules/:id that names every hidden option seals them again', async (t) => {
  const gateway = aGateway()
  const clip = { clip_x: 0, clip_y: 0, clip_width: 10, clip_height: 10 }
  const id = await create(gateway, { ...hourly, options: { ...clip, headers: { 'x-one': '1' } } })
  const options = { clip_x: null, clip_y: null, clip_width: null, clip_height: null, headers: { 'x-two': '2' } }
  await calling(gateway)('PATCH', `/schedules/${id}`, { options, url: 'https://example.org/' })
  const { metadata, spec } = newest(gateway)
  t.strictSame(Object.keys(spec.template).sort(), ['hiddenOptions', 'sealedOptions', 'url'])
  const sealedFor = { purpose: 'options', subject: metadata.name, account: 'acme', url: 'https://example.org/' } as const
  t.strictSame(JSON.parse(await unseal(spec.template.sealedOptions!, sealedFor, [OPENING_KEY])), {
    privateOptions: { headers: { 'x-two': '2' } },
  })
  const { status } = await calling(gateway)('PATCH', `/schedules/${id}`, { options: { headers: null } })
  t.equal(status, 200)
  t.strictSame(newest(gateway).spec.template, { url: 'https://example.org/' })
})

/** Tests that only look at their own schedule share a gateway. */
const shared = aGateway({ maxSchedules: 1_000 })

/** Private options in the object, and large ones in the bucket. */
const hidden = { headers: { 'x-a': '1' }, basic_auth_username: 'ada', basic_auth_password: 'lovelace', styles: 'p{}'.repeat(4_000) }
const hiddenNames = /options\.headers, options\.basic_auth_username, options\.basic_auth_password/

const kept: { name: string; body: object }[] = [
  { name: 'a time', body: { schedule: '@daily' } },
  { name: 'a name', body: { name: 'other' } },
  { name: 'a suspension', body: { suspend: true } },
  { name: 'an endpoint', body: { webhook_url: 'https://hooks.example.com/in' } },
  { name: 'an option', body: { options: { full_page: true, dark_mode: true } } },
  { name: 'no option', body: { options: { full_page: null } } },
  { name: 'an option that may be large', body: { options: { pdf_footer_template: '<b>', format: 'pdf' } } },
  { name: 'the same URL', body: { url } },
  { name: 'a comparison', body: { comparison: { baseline: 'approved' } } },
  { name: 'the removal of a private option that it does not have', body: { options: { authorization: null } } },
]
for (const { name, body } of kept) {
  t.test(`PATCH /schedules/:id with ${name} keeps hidden options without asking for them`, async (t) => {
    const gateway = shared
    const id = await create(gateway, { ...hourly, options: hidden })
    const before = structuredClone(newest(gateway).spec.template)
    const object = gateway.objects.objects.get(before.optionsObject!)
    const { status, body: response } = await calling(gateway)('PATCH', `/schedules/${id}`, body)
    t.equal(status, 200, JSON.stringify(response))
    const { sealedOptions, optionsObject, hiddenOptions } = before
    t.match(newest(gateway).spec.template, { sealedOptions, optionsObject, hiddenOptions })
    t.equal(gateway.objects.objects.get(optionsObject!), object)
    t.match(response.data.options, { headers: '***', basic_auth_password: '***', styles: '…' })
  })
}

const asked: { name: string; body: object; path: string; reason?: RegExp }[] = [
  { name: 'another value of one', body: { options: { headers: { 'x-b': '2' } } }, path: 'options.headers', reason: /options\.styles/ },
  { name: 'the removal of one', body: { options: { styles: null } }, path: 'options.styles', reason: hiddenNames },
  { name: 'another private option', body: { options: { authorization: 'a' } }, path: 'options.authorization', reason: hiddenNames },
  { name: 'credentials in the URL', body: { url: 'https://eve:lovelace@example.com/' }, path: 'options.basic_auth_username' },
  { name: 'another URL', body: { url: 'https://example.org/' }, path: 'url', reason: hiddenNames },
  {
    name: 'options that outgrow the object',
    body: { options: { format: 'pdf', pdf_footer_template: 'a'.repeat(9_000) } },
    path: 'options',
    reason: /8 KiB/,
  },
  { name: 'a script', body: { options: { scripts: 'show()' } }, path: 'options.scripts', reason: /scripts could show the private options/ },
]
for (const { name, body, path, reason = /give / } of asked) {
  t.test(`PATCH /schedules/:id with ${name} lists the hidden options that it needs too`, async (t) => {
    const gateway = shared
    const id = await create(gateway, { ...hourly, options: hidden })
    const response = await calling(gateway)('PATCH', `/schedules/${id}`, body)
    t.match(response, { status: 400, body: { error: { message: reason, details: [{ path, code: 'contradiction' }] } } })
    t.equal(response.body.error.details.length, 1)
    t.equal(newest(gateway).metadata.resourceVersion, '1')
    const all = { headers: null, basic_auth_username: null, basic_auth_password: null, styles: null }
    const options = 'options' in body ? { ...all, ...(body.options as object) } : { ...all, ...('url' in body ? {} : body) }
    t.equal((await calling(gateway)('PATCH', `/schedules/${id}`, { ...body, options })).status, 200)
  })
}

t.test('PATCH /schedules/:id with another proxy or base URL does not send it the credentials of the present one', async (t) => {
  const gateway = aGateway({ maxSchedules: 12, optionPolicy: { ...DEFAULT_OPTION_POLICY, storage: true } })
  const id = await create(gateway, { ...hourly, options: { proxy: 'http://ada:lovelace@proxy.example.com:8080' } })
  const proxy = await calling(gateway)('PATCH', `/schedules/${id}`, { options: { proxy: 'http://other.example.com:8080' } })
  t.match(proxy, { status: 400, body: { error: { details: [{ path: 'options.proxy' }] } } })
  t.equal((await calling(gateway)('PATCH', `/schedules/${id}`, { options: { proxy: 'http://proxy.example.com:8080' } })).status, 200)
  const others: [object, string, unknown][] = [
    [
      { storage_bucket: 'pictures', storage_endpoint: 'https://a.example', storage_access_key_id: 'a', storage_secret_access_key: 'b' },
      'storage_endpoint',
      'https://b.example',
    ],
    [{ headers: { a: 'b' } }, 'headers_scope', 'all'],
    [{ authorization: 'a' }, 'headers_scope', 'same_site'],
    [{ cookies: ['a=b'] }, 'ignore_https_errors', true],
    [{ cookies: ['a=b'] }, 'bypass_csp', true],
    [{ basic_auth_username: 'a', basic_auth_password: 'b' }, 'proxy', 'http://proxy.example.com:8080'],
  ]
  for (const [options, option, value] of others) {
    const other = await create(gateway, { ...hourly, options })
    const refused = await calling(gateway)('PATCH', `/schedules/${other}`, { options: { [option]: value } })
    t.match(
      refused,
      { status: 400, body: { error: { details: [{ path: `options.${option}`, message: /give options\.\w+.* too/ }] } } },
      option,
    )
    t.equal((await calling(gateway)('PATCH', `/schedules/${other}`, { options: { ...options, [option]: value } })).status, 200)
  }
  const narrow = await create(gateway, { ...hourly, options: { headers: { a: 'b' }, headers_scope: 'all' } })
  t.equal((await calling(gateway)('PATCH', `/schedules/${narrow}`, { options: { headers_scope: 'same_origin' } })).status, 200)
  for (const option of ['ignore_https_errors', 'bypass_csp', 'headers_scope']) {
    const value = option === 'headers_scope' ? 'same_origin' : false
    t.equal((await calling(gateway)('PATCH', `/schedules/${narrow}`, { options: { [option]: value } })).status, 200, 'protects them')
  }
  const markup = { html: '<p>', html_base_url: url, authorization: 'a' }
  const page = await create(gateway, { schedule: '@hourly', options: markup })
  const code = await calling(gateway)('PATCH', `/schedules/${page}`, { options: { html: '<script>' } })
  t.match(code, { status: 400, body: { error: { message: /html could show the private options: give options.authorization too/ } } })
  const both = { html: '<b>', authorization: 'a' }
  t.equal((await calling(gateway)('PATCH', `/schedules/${page}`, { options: both })).body.data.url, url)
  const ofProxy = await create(gateway, { ...hourly, options: { proxy: 'http://ada:lovelace@proxy.example.com:8080', scripts: 'a()' } })
  for (const scripts of ['b()', null])
    t.equal(
      (await calling(gateway)('PATCH', `/schedules/${ofProxy}`, { options: { scripts } })).status,
      200,
      'no page gets these credentials',
    )
  for (const base of ['https://example.org/', null]) {
    const response = await calling(gateway)('PATCH', `/schedules/${page}`, { options: { html_base_url: base } })
    t.match(response, { status: 400, body: { error: { details: [{ path: 'options', message: /options\.authorization/ }] } } })
  }
})

t.test('PATCH /schedules/:id replaces a URL by a page in the options, and back', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, hourly)
  const patch = async (body: object) => (await calling(gateway)('PATCH', `/schedules/${id}`, body)).body.data?.url
  t.equal(await patch({ options: { html: '<p>' } }), 'about:html')
  t.equal(await patch({ options: { html_base_url: 'https://example.net/a' } }), 'https://example.net/a')
  t.equal(await patch({ options: { html: '<b>' } }), 'https://example.net/a')
  t.equal(await patch({ options: { html_base_url: null } }), 'about:html')
  t.equal(await patch({ url, options: { html: null } }), url)
  t.equal(await patch({ url: null, options: { markdown: '# a' } }), 'about:html')
  t.equal(await patch({ url, options: null }), url)
})

t.test('PATCH /schedules/:id seals credentials in the URL of a schedule without hidden options', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, { ...hourly, options: { full_page: true } })
  const { body } = await calling(gateway)('PATCH', `/schedules/${id}`, { url: 'https://ada:lovelace@example.org/' })
  const options = { full_page: true, basic_auth_username: '***', basic_auth_password: '***' }
  t.match(body.data, { url: 'https://example.org/', options })
})

const features = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${String.fromCharCode(97 + index)}`, 'a']))

const changes: { name: string; before?: object; body: object; details: string[] }[] = [
  { name: 'nothing', body: {}, details: [' empty'] },
  { name: 'a wrong expression', body: { schedule: 'often' }, details: ['schedule invalid_value'] },
  { name: 'no expression', body: { schedule: null }, details: ['schedule invalid_type'] },
  {
    name: 'another URL for secrets',
    before: { options: { cookies: ['a=b'] } },
    body: { url: 'https://example.org/' },
    details: ['url contradiction'],
  },
  {
    name: 'a URL with a password beside other secrets',
    before: { options: { cookies: ['a=b'] } },
    body: { url: 'https://ada:lovelace@example.org/' },
    details: ['url contradiction'],
  },
  { name: 'a URL for a page', before: { url: undefined, options: { html: '<p>' } }, body: { url }, details: ['url contradiction'] },
  { name: 'no page', before: { url: undefined, options: { html: '<p>' } }, body: { options: { html: null } }, details: ['url required'] },
  { name: 'no URL', body: { url: null }, details: ['url required'] },
  {
    name: 'a page that is not public',
    before: { options: { html: '<p>' }, url: undefined },
    body: { options: { html_base_url: 'http://127.0.0.1/' } },
    details: ['options.html_base_url url_not_allowed'],
  },
  {
    name: 'what an option excludes',
    before: { options: { full_page: true } },
    body: { options: { selector: 'a' } },
    details: ['options.selector contradiction'],
  },
  {
    name: 'what a hidden option excludes',
    before: { url: undefined, options: { html: 'a'.repeat(9_000) } },
    body: { options: { markdown: 'a' } },
    details: ['options.html contradiction'],
  },
  {
    name: 'too many entries of a map',
    before: { options: { media_features: features(20) } },
    body: { options: { media_features: { more: 'a' } } },
    details: ['options.media_features too_big'],
  },
  {
    name: 'a wrong entry of a map',
    body: { options: { media_features: { more: '' } } },
    details: ['options.media_features.more too_small'],
  },
  { name: 'an option of the cache', body: { options: { cache: true } }, details: ['options.cache not_allowed'] },
  { name: 'events without an endpoint', body: { webhook_events: ['screenshot.failed'] }, details: ['webhook_events required'] },
  {
    name: 'a format without the events',
    before: { webhook_url: 'https://hooks.example.com/', webhook_events: ['screenshot.failed'] },
    body: { options: { format: 'mp4' } },
    details: ['webhook_events[0] invalid_value'],
  },
]
for (const { name, before, body, details } of changes) {
  t.test(`PATCH /schedules/:id refuses ${name}`, async (t) => {
    const gateway = shared
    const id = await create(gateway, { ...hourly, ...before })
    const response = await calling(gateway)('PATCH', `/schedules/${id}`, body)
    t.equal(response.status, 400)
    t.strictSame(detailsOf(response), details)
    t.notMatch(JSON.stringify(response.body), /lovelace/)
    t.equal(newest(gateway).metadata.resourceVersion, '1')
  })
}

t.test('a change with an old ETag is refused, and repeated when the operator was faster', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, hourly)
  const call = calling(gateway)
  const { headers } = await call('GET', `/schedules/${id}`)
  let writes = 1
  gateway.schedules.beforePatch = (object) => {
    if (writes-- > 0) gateway.schedules.objects[0] = { ...object, metadata: { ...object.metadata, resourceVersion: '7' } }
  }
  const etag = { 'if-match': String(headers.etag) }
  t.equal((await call('PATCH', `/schedules/${id}`, { suspend: true }, etag)).status, 200)
  t.match(await call('PATCH', `/schedules/${id}`, { suspend: false }, etag), { status: 412 })
  t.match(await call('DELETE', `/schedules/${id}`, undefined, etag), { status: 412 })
})

t.test('DELETE /schedules/:id deletes it', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, hourly)
  const call = calling(gateway)
  t.equal((await call('DELETE', `/schedules/${id}`)).status, 204)
  t.match(await call('GET', `/schedules/${id}`), { status: 404, body: { error: { message: 'schedule not found' } } })
})

t.test('a schedule of another account does not exist', async (t) => {
  const gateway = aGateway()
  const id = await create(gateway, hourly)
  newest(gateway).spec.accountName = 'other'
  const call = calling(gateway)
  const responses = [
    await call('GET', `/schedules/${id}`),
    await call('PATCH', `/schedules/${id}`, { suspend: true }),
    await call('DELETE', `/schedules/${id}`),
  ]
  t.strictSame(
    responses.map(({ status }) => status),
    [404, 404, 404],
  )
  t.equal(gateway.schedules.objects.length, 1)
})

t.test('schedules need their scopes', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const grant = (scope: string) => {
    gateway.keys.keys[0]!.spec.scopes = [scope as 'schedules:read']
  }
  grant('screenshots:write')
  t.equal((await call('GET', '/schedules')).status, 403)
  grant('schedules:read')
  t.equal((await call('GET', '/schedules')).status, 200)
  t.equal((await call('POST', '/schedules', hourly)).status, 403)
  grant('schedules:write')
  t.equal((await call('POST', '/schedules', hourly)).status, 201)
})
