import t from 'tap'
import { findProblems } from '../../../api-gateway/console/src/form/checks.ts'
import {
  addedTo,
  type Field,
  type FieldInput,
  type FormInputs,
  type FormRequest,
  fieldGroups,
  fieldsByName,
  isEmptyInput,
  searchGroups,
  toCaptureRequest,
  toInput,
  toInputs,
  toRequest as toUncheckedRequest,
  withoutAdded,
} from '../../../api-gateway/console/src/form/fields.ts'
import { parseCreateBody } from '../../../api-gateway/src/resources/screenshots/create-body.ts'
import { captureOptionFields, recordOptions, requestOptions } from '../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { DEFAULT_EGRESS_RULES } from '../../../crds/src/addresses/address-rules.ts'
import { exampleOf } from '../../../crds/src/options/groups.ts'
import { toSnakeCase } from '../../../crds/src/text/words.ts'
import { CONTRADICTION_CASES } from '../../support/sources/contradiction-cases.ts'

// The form of the console, over the whole catalog: every option can be entered, and the API accepts the request that follows.

const URL_OF_PAGE = 'https://example.com/'
const RULES = { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] }
const fields = [...fieldsByName.values()]
const toRequest = (url: string, inputs: FormInputs) => toUncheckedRequest(url, inputs, findProblems)

/** Options that these ones are refused without. */
const NEEDED: [names: RegExp, values: Record<string, unknown>][] = [
  [/^clip_/, { clip_x: 0, clip_y: 0, clip_width: 10, clip_height: 10 }],
  [/^(html_base_url|offline)$/, { html: '<p>' }],
  [/^geolocation_l/, { geolocation_latitude: 1, geolocation_longitude: 1 }],
  [/^proxy_/, { proxy: 'http://proxy.example.com:3128' }],
  [/^proxy_password$/, { proxy_username: 'ada' }],
  [/^dark_mode_force$/, { dark_mode: true }],
  [/^basic_auth_/, { basic_auth_username: 'ada', basic_auth_password: 'lovelace' }],
  [/^job_timeout$/, { timeout: 1_000 }],
  [/^cache_/, { cache: true }],
  [/^webhook_events$/, { webhook_url: 'https://hooks.example.com/in' }],
  [/^video_/, { format: 'mp4' }],
  [/^video_scroll_/, { video_scenario: 'scroll' }],
  [/^storage_/, { storage_bucket: 'acme-pictures', storage_endpoint: 'https://s3.example.com' }],
  [/^storage_/, { storage_access_key_id: 'AKIDEXAMPLE', storage_secret_access_key: 'lovelace' }],
]
const neededFor = (name: string): Record<string, unknown> =>
  Object.assign({}, ...NEEDED.filter(([names]) => names.test(name)).map(([, values]) => values))

/** What the endpoint of the request accepts. */
const acceptedBy = ({ collection }: FormRequest): 'video' | 'screenshot' => (collection === 'videos' ? 'video' : 'screenshot')
const parse = (request: FormRequest) =>
  parseCreateBody(JSON.parse(JSON.stringify(request.body)), RULES, false, undefined, acceptedBy(request))

/** The example as the API takes it. Cookies are entered as texts. */
const exampleInput = ({ option }: Field): unknown => (option === 'cookies' ? ['session=7f3a; Path=/; Secure'] : exampleOf(option))

function inputsOf(values: Record<string, unknown>): FormInputs {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toInput(fieldsByName.get(name)!, value)!]))
}

t.test('the form has every option of the API', async (t) => {
  const names = Object.keys({ ...captureOptionFields, ...recordOptions, ...requestOptions }).sort()
  t.strictSame(fields.map(({ name }) => name).sort(), names)
  t.equal(new Set(fields.map(({ option }) => option)).size, fields.length)
})

t.test('every option can be entered, and the API accepts what the form builds', async (t) => {
  for (const field of fields) {
    const { name } = field
    const values = { ...neededFor(name), [name]: exampleInput(field) }
    const hasMarkup = 'html' in values || 'markdown' in values
    const request = toRequest(hasMarkup ? '' : URL_OF_PAGE, inputsOf(values))
    t.strictSame([...request.problems], [], name)
    t.strictSame(request.body.options, values, name)
    const parsed = parse(request)
    const { options = {}, privateOptions = {}, cache = {}, record = {}, ...response } = parsed
    const known = { ...options, ...privateOptions, ...cache, ...record, ...response } as Record<string, unknown>
    const option = name === 'download_url_ttl' ? 'downloadUrlTtlSeconds' : field.option
    t.not(known[option], undefined, `${name} reaches the API`)
  }
})

t.test('values outside the limits of an option are reported at its field', async (t) => {
  for (const [name, input] of [
    ['viewport_width', '0'],
    ['viewport_width', 'wide'],
    ['image_quality', '101'],
    ['fail_on_status', '99'],
    ['cookies', 'no pair'],
    ['webhook_url', 'http://example.com/'],
    ['external_identifier', 'two words'],
    ['image_background', 'red; url(x)'],
  ] as const) {
    const { problems } = toRequest(URL_OF_PAGE, { [name]: input })
    t.ok(problems.has(name), `${name}: ${input}`)
  }
})

t.test('the form reports the contradictions that the API refuses, and no others', async (t) => {
  for (const { options, contradicts } of CONTRADICTION_CASES) {
    const values = Object.fromEntries(Object.entries(options).map(([option, value]) => [toSnakeCase(option), value]))
    const hasMarkup = 'html' in values || 'markdown' in values
    const request = toRequest(hasMarkup ? '' : URL_OF_PAGE, inputsOf(values))
    const { problems } = request
    let isRefused = false
    try {
      parse(request)
    } catch {
      isRefused = true
    }
    t.equal(problems.size > 0, isRefused, `${JSON.stringify(options)} ${contradicts}`)
  }
})

t.test('a moving format makes a request for a video, with the events of videos', async (t) => {
  for (const format of ['mp4', 'webm', 'gif']) t.equal(toRequest(URL_OF_PAGE, { format }).collection, 'videos')
  t.equal(toRequest(URL_OF_PAGE, { format: 'pdf' }).collection, 'screenshots')
  t.equal(toRequest(URL_OF_PAGE, {}).collection, 'screenshots')
  const webhook = { webhook_url: 'https://hooks.example.com/in' }
  t.strictSame([...toRequest(URL_OF_PAGE, { ...webhook, format: 'mp4', webhook_events: ['video.failed'] }).problems], [])
  t.match(
    toRequest(URL_OF_PAGE, { ...webhook, format: 'mp4', webhook_events: ['screenshot.failed'] }).problems.get('webhook_events'),
    'a video has no event screenshot.failed',
  )
  t.match(
    toRequest(URL_OF_PAGE, { ...webhook, webhook_events: ['video.failed'] }).problems.get('webhook_events'),
    'a screenshot has no event',
  )
})

t.test('until the checks are loaded, the same request follows, and only problems of the URL are reported', async (t) => {
  const inputs = { full_page: 'true', selector: '#main', image_quality: '101' }
  const unchecked = toUncheckedRequest('ftp://example.com/', inputs)
  t.strictSame([...unchecked.problems.keys()], ['url'])
  t.strictSame(unchecked.body, toRequest('ftp://example.com/', inputs).body)
})

t.test('a page needs a URL or markup, not both', async (t) => {
  t.ok(toRequest('', {}).problems.has('url'))
  t.ok(toRequest('javascript:alert(1)', {}).problems.has('url'))
  t.ok(toRequest(URL_OF_PAGE, { html: '<p>' }).problems.has('url'))
  t.strictSame(toRequest('', { html: '<p>' }).body, { options: { html: '<p>' } })
})

t.test('options without effect give a warning, and empty inputs leave the default', async (t) => {
  t.match(toRequest(URL_OF_PAGE, { image_quality: '50' }).warnings.join(), /image_quality has no effect/)
  const { body } = toRequest(URL_OF_PAGE, { viewport_width: ' ', wait_until: [], headers: [['', '']], hide_selectors: '\n', unknown: 'x' })
  t.strictSame(body.options, {})
  t.ok(isEmptyInput(undefined))
})

t.test('the options of a record fill the form, and hidden ones are listed', async (t) => {
  const { inputs, hidden } = toInputs({
    ...{ full_page: true, viewport_width: 800, wait_until: ['load'], hide_selectors: ['.a', '.b'] },
    ...{ media_features: { 'color-gamut': 'p3' }, headers: '***', authorization: '***', unknown: 1, styles: 'body { color: r…' },
  })
  t.strictSame(inputs, {
    full_page: 'true',
    viewport_width: '800',
    wait_until: ['load'],
    hide_selectors: '.a\n.b',
    media_features: [['color-gamut', 'p3']],
  })
  t.strictSame(hidden, ['headers', 'authorization', 'styles'])
})

t.test('the search finds options by name, description and group', async (t) => {
  const found = (search: string) => searchGroups(search).flatMap((group) => group.fields.map(({ name }) => name))
  t.ok(found('dark mode').includes('dark_mode'))
  t.ok(found('full_page').includes('full_page_scroll'))
  t.ok(found('cookies').length > 1)
  t.strictSame(found('no such option anywhere'), [])
  t.equal(searchGroups(' '), fieldGroups)
})

t.test('fields of secrets are password fields, and long texts have several lines', async (t) => {
  t.strictSame(
    fields
      .filter(({ isSecret }) => isSecret)
      .map(({ name }) => name)
      .sort(),
    ['authorization', 'basic_auth_password', 'proxy_password', 'storage_secret_access_key'],
  )
  t.equal(fieldsByName.get('scripts')?.kind, 'long')
  t.equal(fieldsByName.get('viewport_width')?.fallback, '1920')
})

t.test('options that a record has with their default are not set in the form', async (t) => {
  const { inputs } = toInputs({ viewport_width: 1920, viewport_height: 700, full_page: false, format: 'png', dark_mode: true })
  t.strictSame(inputs, { viewport_height: '700', dark_mode: 'true' })
})

t.test('problems of the form have the words of the API', async (t) => {
  const problemOf = (name: string, input: FieldInput) => toRequest(URL_OF_PAGE, { [name]: input }).problems.get(name)
  t.equal(problemOf('viewport_width', 'wide'), 'viewport_width must be a number')
  t.equal(problemOf('viewport_width', '99999'), 'viewport_width must be at most 7680')
  t.equal(problemOf('pdf_margin_top', 'wide'), 'pdf_margin_top must be a length, such as 10mm, 1in or 20px')
  t.equal(problemOf('script_urls', 'a.js'), 'script_urls[0] must be an http or https URL')
  const region = 'each line must be a CSS selector, or a region such as {"x": 0, "y": 0, "width": 320, "height": 60}'
  t.equal(problemOf('compare_ignore', '{x: 0}'), region)
  t.equal(problemOf('compare_ignore', '#clock\n{"x": 0}'), region)
  t.match(problemOf('fail_on_status', '9'), /^fail_on_status\[0\] has the wrong format. Expected: .* such as 404 or 500-511/)
})

t.test('an option that the playground adds itself does not come back from the record', async (t) => {
  const given = { full_page: true }
  const sent = toCaptureRequest(toRequest(URL_OF_PAGE, toInputs(given).inputs)).body.options
  t.strictSame(sent, { metadata_timings: true, full_page: true })
  t.strictSame(toInputs(withoutAdded(sent, addedTo(given))).inputs, { full_page: 'true' })
  t.strictSame(toInputs(withoutAdded({ metadata_timings: false })).inputs, {}, 'the default')
  t.strictSame(toCaptureRequest(toRequest(URL_OF_PAGE, { metadata_timings: 'false' })).body.options, { metadata_timings: false })
})

t.test('an option that the owner has set comes back from the record, although the playground adds it to others', async (t) => {
  const given = { metadata_timings: true }
  t.strictSame(toInputs(withoutAdded(given, addedTo(given))).inputs, { metadata_timings: 'true' })
  t.strictSame(toInputs(withoutAdded(given)).inputs, { metadata_timings: 'true' }, 'of a capture that the playground did not request')
})
