import t from 'tap'
import { DEFAULT_OPTION_POLICY } from '../../../../../crds/src/options/policy.ts'
import { problemsIn } from '../../requests.ts'
import { aScheduleGateway, hourly, url } from './schedule-gateway.ts'

// PATCH /schedules/:id.

t.test('PATCH /schedules/:id changes the fields that are sent, and null restores defaults', async (t) => {
  const { create, newest } = aScheduleGateway()
  const kept = { schedule: '0 9 * * MON-FRI', options: { format: 'webp' }, concurrency_policy: 'allow', retention_days: 7 }
  const removed = { webhook_url: 'https://hooks.example.com/in', webhook_events: ['screenshot.completed'], external_identifier: 'home' }
  const { patch } = await create({ ...hourly, ...kept, ...removed, time_zone: 'Europe/Zurich', suspend: true })
  const none = { time_zone: null, external_identifier: null, webhook_url: null, webhook_events: null }
  const { body } = await patch({ suspend: false, ...none })
  t.equal(body.message, 'Schedule updated successfully')
  t.match(body.data, { ...kept, suspend: false, time_zone: 'UTC', external_identifier: null, webhook_url: null })
  t.notHas(newest().spec, 'timeZone')
  t.notHas(newest().spec.template, 'webhookUrl')
})

t.test('PATCH /schedules/:id merges options, also nested ones, and null removes them', async (t) => {
  const { create, newest, keyId } = aScheduleGateway()
  const features = { 'color-gamut': 'p3', 'any-pointer': 'fine' }
  const created = await create({ ...hourly, options: { full_page: true, format: 'webp', media_features: features } })
  const patch = async (options: object | null) => (await created.patch({ options })).body.data.options
  const nested = { 'any-pointer': null, 'any-hover': 'none' }
  t.strictSame(await patch({ dark_mode: true, full_page: null, media_features: nested }), {
    ...{ format: 'webp', dark_mode: true },
    media_features: { 'color-gamut': 'p3', 'any-hover': 'none' },
  })
  t.strictSame(Object.keys(await patch({ media_features: null })), ['format', 'dark_mode'])
  t.strictSame(await patch({}), { format: 'webp', dark_mode: true }, 'an empty object changes nothing')
  t.strictSame(await patch(null), {})
  t.strictSame(newest().spec.template, { url, capturePolicy: { keyId } })
})

t.test(
  'options that are too large for an object are sealed under schedules/, stay there, and are emptied when they are removed',
  async (t) => {
    const { create, newest, keyId, objects, openLarge } = aScheduleGateway()
    const { patch } = await create({ ...hourly, options: { styles: 'p{}'.repeat(4_000), full_page: true } })
    const optionsObject = `schedules/acme/${newest().metadata.name}.jwe`
    t.match(newest().spec.template, { options: { fullPage: true }, optionsObject, hiddenOptions: ['styles'] })
    t.match(await openLarge(), { options: { styles: /^p/ } })
    const sealed = objects.objects.get(optionsObject)
    const kept = await patch({ options: { dark_mode: true }, url: 'https://example.org/' })
    t.strictSame(kept.body.data.options, { full_page: true, dark_mode: true, styles: '…' })
    t.match(newest().spec.template, { url: 'https://example.org/', optionsObject, hiddenOptions: ['styles'] })
    t.equal(objects.objects.get(optionsObject), sealed)
    const { body } = await patch({ options: { styles: null, full_page: null, dark_mode: null, format: 'jpeg' }, url })
    t.strictSame(body.data.options, { format: 'jpeg' })
    t.strictSame(newest().spec.template, { url, options: { format: 'jpeg' }, optionsObject, capturePolicy: { keyId } })
    t.strictSame(await openLarge(), {})
  },
)

t.test('PATCH /schedules/:id that names every hidden option seals them again', async (t) => {
  const { create, newest, keyId, openSealed } = aScheduleGateway()
  const clip = { clip_x: 0, clip_y: 0, clip_width: 10, clip_height: 10 }
  const noClip = { clip_x: null, clip_y: null, clip_width: null, clip_height: null }
  const { patch } = await create({ ...hourly, options: { ...clip, headers: { 'x-one': '1' } } })
  const other = 'https://example.org/'
  await patch({ options: { ...noClip, headers: { 'x-two': '2' } }, url: other })
  t.strictSame(Object.keys(newest().spec.template).sort(), ['capturePolicy', 'hiddenOptions', 'sealedOptions', 'url'])
  t.strictSame(await openSealed(other), { privateOptions: { headers: { 'x-two': '2' } } })
  t.equal((await patch({ options: { headers: null } })).status, 200)
  t.strictSame(newest().spec.template, { url: other, capturePolicy: { keyId } })
})

/** Tests that only look at their own schedule share a gateway. */
const shared = aScheduleGateway({ maxSchedules: 1_000 })

/** Private options in the object, and large ones in the bucket. */
const hidden = { headers: { 'x-a': '1' }, basic_auth_username: 'ada', basic_auth_password: 'lovelace', styles: 'p{}'.repeat(4_000) }
const hiddenNames = /options\.headers, options\.basic_auth_username, options\.basic_auth_password/

const kept: [name: string, body: object][] = [
  ['a time', { schedule: '@daily' }],
  ['an endpoint', { webhook_url: 'https://hooks.example.com/in' }],
  ['an option', { options: { full_page: true, dark_mode: true } }],
  ['no option', { options: { full_page: null } }],
  ['an option that may be large', { options: { pdf_footer_template: '<b>', format: 'pdf' } }],
  ['the same URL', { url }],
  ['a comparison', { comparison: { baseline: 'approved' } }],
  ['the removal of a private option that it does not have', { options: { authorization: null } }],
]
for (const [name, body] of kept) {
  t.test(`PATCH /schedules/:id with ${name} keeps hidden options without asking for them`, async (t) => {
    const { create, newest, objects } = shared
    const { patch } = await create({ ...hourly, options: hidden })
    const { sealedOptions, optionsObject, hiddenOptions } = newest().spec.template
    const object = objects.objects.get(optionsObject!)
    const { status, body: response } = await patch(body)
    t.equal(status, 200, JSON.stringify(response))
    t.match(newest().spec.template, { sealedOptions, optionsObject, hiddenOptions })
    t.equal(objects.objects.get(optionsObject!), object)
    t.match(response.data.options, { headers: '***', basic_auth_password: '***', styles: '…' })
  })
}

const asked: [name: string, body: { options?: object; url?: string }, path: string, reason?: RegExp][] = [
  ['another value of one', { options: { headers: { 'x-b': '2' } } }, 'options.headers', /options\.styles/],
  ['the removal of one', { options: { styles: null } }, 'options.styles', hiddenNames],
  ['another private option', { options: { authorization: 'a' } }, 'options.authorization', hiddenNames],
  ['credentials in the URL', { url: 'https://eve:lovelace@example.com/' }, 'options.basic_auth_username'],
  ['another URL', { url: 'https://example.org/' }, 'url', hiddenNames],
  ['options that outgrow the object', { options: { format: 'pdf', pdf_footer_template: 'a'.repeat(9_000) } }, 'options', /8 KiB/],
  ['a script', { options: { scripts: 'show()' } }, 'options.scripts', /scripts could show the private options/],
]
for (const [name, body, path, reason = /give /] of asked) {
  t.test(`PATCH /schedules/:id with ${name} lists the hidden options that it needs too`, async (t) => {
    const { create, newest } = shared
    const { patch } = await create({ ...hourly, options: hidden })
    const before = newest()
    const response = await patch(body)
    t.match(response, { status: 400, body: { error: { message: reason } } })
    t.strictSame(problemsIn(response), [`${path} contradiction`])
    t.strictSame(newest(), before)
    const all = { headers: null, basic_auth_username: null, basic_auth_password: null, styles: null }
    t.equal((await patch({ ...body, options: { ...all, ...body.options } })).status, 200)
  })
}

/** Options beside credentials, and a change of one that could send the credentials elsewhere. */
const elsewhere: [options: object, option: string, value: unknown][] = [
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
t.test('PATCH /schedules/:id with another proxy or base URL does not send it the credentials of the present one', async (t) => {
  const { create } = aScheduleGateway({ maxSchedules: 12, optionPolicy: { ...DEFAULT_OPTION_POLICY, storage: true } })
  const schedule = async (options: object, page: object = { url }) => {
    const { patch } = await create({ schedule: '@hourly', ...page, options })
    return (change: object) => patch({ options: change })
  }
  const proxied = await schedule({ proxy: 'http://ada:lovelace@proxy.example.com:8080' })
  const proxy = await proxied({ proxy: 'http://other.example.com:8080' })
  t.match(proxy, { status: 400, body: { error: { details: [{ path: 'options.proxy' }] } } })
  t.equal((await proxied({ proxy: 'http://proxy.example.com:8080' })).status, 200)
  for (const [options, option, value] of elsewhere) {
    const patch = await schedule(options)
    const details = [{ path: `options.${option}`, message: /give options\.\w+.* too/ }]
    t.match(await patch({ [option]: value }), { status: 400, body: { error: { details } } }, option)
    t.equal((await patch({ ...options, [option]: value })).status, 200)
  }
  const narrow = await schedule({ headers: { a: 'b' }, headers_scope: 'all' })
  for (const change of [{ headers_scope: 'same_origin' }, { ignore_https_errors: false }, { bypass_csp: false }])
    t.equal((await narrow(change)).status, 200, 'protects them')
  const ofProxy = await schedule({ proxy: 'http://ada:lovelace@proxy.example.com:8080', scripts: 'a()' })
  for (const scripts of ['b()', null]) t.equal((await ofProxy({ scripts })).status, 200, 'no page gets these credentials')
  const page = await schedule({ html: '<p>', html_base_url: url, authorization: 'a' }, {})
  const code = await page({ html: '<script>' })
  t.match(code, { status: 400, body: { error: { message: /html could show the private options: give options.authorization too/ } } })
  t.equal((await page({ html: '<b>', authorization: 'a' })).body.data.url, url)
  for (const html_base_url of ['https://example.org/', null]) {
    const details = [{ path: 'options', message: /options\.authorization/ }]
    t.match(await page({ html_base_url }), { status: 400, body: { error: { details } } })
  }
})

t.test('PATCH /schedules/:id replaces a URL by a page in the options, and back', async (t) => {
  const { create } = aScheduleGateway()
  const { patch } = await create()
  for (const [change, expected] of [
    [{ options: { html: '<p>' } }, 'about:html'],
    [{ options: { html_base_url: 'https://example.net/a' } }, 'https://example.net/a'],
    [{ options: { html: '<b>' } }, 'https://example.net/a'],
    [{ options: { html_base_url: null } }, 'about:html'],
    [{ url, options: { html: null } }, url],
    [{ url: null, options: { markdown: '# a' } }, 'about:html'],
    [{ url, options: null }, url],
  ] as const)
    t.equal((await patch(change)).body.data?.url, expected, JSON.stringify(change))
})

t.test('PATCH /schedules/:id seals credentials in the URL of a schedule without hidden options', async (t) => {
  const { create } = aScheduleGateway()
  const { patch } = await create({ ...hourly, options: { full_page: true } })
  const { body } = await patch({ url: 'https://ada:lovelace@example.org/' })
  const options = { full_page: true, basic_auth_username: '***', basic_auth_password: '***' }
  t.match(body.data, { url: 'https://example.org/', options })
})

const features = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${String.fromCharCode(97 + index)}`, 'a']))
const markup = { url: undefined, options: { html: '<p>' } }
const secret = { options: { cookies: ['a=b'] } }

/** Refused changes: what the schedule has before, and the one problem. */
const refused: [name: string, before: object, change: object, problem: string][] = [
  ['nothing', {}, {}, ' empty'],
  ['no expression', {}, { schedule: null }, 'schedule invalid_type'],
  ['another URL for secrets', secret, { url: 'https://example.org/' }, 'url contradiction'],
  ['a URL with a password beside other secrets', secret, { url: 'https://ada:lovelace@example.org/' }, 'url contradiction'],
  ['a URL for a page', markup, { url }, 'url contradiction'],
  ['no page', markup, { options: { html: null } }, 'url required'],
  ['no URL', {}, { url: null }, 'url required'],
  ['a page that is not public', markup, { options: { html_base_url: 'http://127.0.0.1/' } }, 'options.html_base_url url_not_allowed'],
  ['what an option excludes', { options: { full_page: true } }, { options: { selector: 'a' } }, 'options.selector contradiction'],
  [
    'what a hidden option excludes',
    { url: undefined, options: { html: 'a'.repeat(9_000) } },
    { options: { markdown: 'a' } },
    'options.html contradiction',
  ],
  [
    'too many entries of a map',
    { options: { media_features: features(20) } },
    { options: { media_features: { more: 'a' } } },
    'options.media_features too_big',
  ],
  ['a wrong entry of a map', {}, { options: { media_features: { more: '' } } }, 'options.media_features.more too_small'],
  ['an option of the cache', {}, { options: { cache: true } }, 'options.cache not_allowed'],
  ['events without an endpoint', {}, { webhook_events: ['screenshot.failed'] }, 'webhook_events required'],
  [
    'a format without the events',
    { webhook_url: 'https://hooks.example.com/', webhook_events: ['screenshot.failed'] },
    { options: { format: 'mp4' } },
    'webhook_events[0] invalid_value',
  ],
]
for (const [name, before, change, problem] of refused) {
  t.test(`PATCH /schedules/:id refuses ${name}`, async (t) => {
    const { create, newest } = shared
    const { patch } = await create({ ...hourly, ...before })
    const stored = newest()
    const response = await patch(change)
    t.equal(response.status, 400)
    t.strictSame(problemsIn(response), [problem])
    t.notMatch(JSON.stringify(response.body), /lovelace/)
    t.strictSame(newest(), stored)
  })
}
