import t from 'tap'
import { parseCreateBody } from '../../../../../api-gateway/src/resources/screenshots/create-body.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../../crds/src/addresses/address-rules.ts'
import { codesOf, refusalOf } from '../../requests.ts'

const rules = { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] }
const url = 'https://example.com/'

const accepted = [
  { name: 'a url alone', body: { url }, request: { url, ignored: [] } },
  { name: 'empty options as none', body: { url, options: {} }, request: { url, ignored: [] } },
  { name: 'a url among the options', body: { options: { url } }, request: { url, ignored: [] } },
  { name: 'the outer url before the inner', body: { url, options: { url: 'https://other.example/' } }, request: { url, ignored: [] } },
  {
    name: 'options in the names of custom resources',
    body: { url, options: { full_page: true, viewport_width: 800, wait_until: ['load'] } },
    request: { url, options: { fullPage: true, viewportWidth: 800, waitUntil: ['load'] }, ignored: [] },
  },
  {
    name: 'a device in any spelling',
    body: { url, options: { device: 'iphone_15_pro' } },
    request: { url, options: { device: 'iPhone 15 Pro' }, ignored: [] },
  },
  {
    name: 'request options apart from the capture’s',
    body: { url, options: { async: false, response_type: 'empty' } },
    request: { url, async: false, responseType: 'empty', ignored: [] },
  },
  {
    name: 'the outer request options before the inner',
    body: { url, async: true, response_type: 'json', options: { async: false, response_type: 'by_format' } },
    request: { url, async: true, responseType: 'json', ignored: [] },
  },
]
for (const { name, body, request } of accepted) {
  t.test(`parseCreateBody takes ${name}`, async (t) => t.strictSame(parseCreateBody(body, rules), request))
}

const problems = (body: unknown, lenient = false) => codesOf(() => parseCreateBody(body, rules, lenient))

const refused: [string, unknown, string[]][] = [
  ['undefined', undefined, ['VALIDATION_ERROR', ' required']],
  ['null', null, ['VALIDATION_ERROR', ' invalid_type']],
  ['a refused address alone', { url: 'http://10.0.0.1/' }, ['URL_NOT_ALLOWED', 'url url_not_allowed']],
  [
    'a refused address among other problems',
    { url: 'http://10.0.0.1/', x: 1 },
    ['VALIDATION_ERROR', 'x unknown_field', 'url url_not_allowed'],
  ],
  ['a __proto__ key', JSON.parse(`{"url":"${url}","__proto__":{"a":1}}`), ['VALIDATION_ERROR', '__proto__ unknown_field']],
  ['text for a boolean', { url, async: 'false' }, ['VALIDATION_ERROR', 'async invalid_type']],
  ['markup beside a url', { url, options: { html: 'a' } }, ['VALIDATION_ERROR', 'url contradiction']],
  ['markup beside an inner url', { options: { url, markdown: 'a' } }, ['VALIDATION_ERROR', 'options.url contradiction']],
  ['markup of both kinds', { options: { html: 'a', markdown: 'b' } }, ['VALIDATION_ERROR', 'options.html contradiction']],
  [
    'markup at a private address',
    { options: { html: 'a', html_base_url: 'http://10.0.0.1/' } },
    ['URL_NOT_ALLOWED', 'options.html_base_url url_not_allowed'],
  ],
  ['a base address without markup', { url, options: { html_base_url: url } }, ['VALIDATION_ERROR', 'options.html_base_url contradiction']],
  [
    'a proxy on a private address',
    { url, options: { proxy: 'socks5://10.0.0.1:1080' } },
    ['URL_NOT_ALLOWED', 'options.proxy url_not_allowed'],
  ],
  [
    'a password of a proxy that no runner accepts',
    { url, options: { proxy: `http://a:${'x'.repeat(257)}@proxy.example` } },
    ['VALIDATION_ERROR', 'options.proxy too_big'],
  ],
  ['a proxy of another kind', { url, options: { proxy: 'ftp://proxy.example' } }, ['VALIDATION_ERROR', 'options.proxy invalid_format']],
  [
    'a proxy password without a user',
    { url, options: { proxy: 'http://proxy.example', proxy_password: 'x' } },
    ['VALIDATION_ERROR', 'options.proxy_password contradiction'],
  ],
  [
    'a device in a window that is too large with its pixel ratio',
    { url, options: { device: 'iphone_15_pro', viewport_width: 7_680, viewport_height: 7_680 } },
    ['VALIDATION_ERROR', 'options.device contradiction'],
  ],
  ['an unknown device', { url, options: { device: 'iphone 115 pro' } }, ['VALIDATION_ERROR', 'options.device invalid_value']],
  ['an unknown response type', { url, response_type: 'xml' }, ['VALIDATION_ERROR', 'response_type invalid_value']],
  ['a good url beside a wrong one', { url, options: { url: 1 } }, ['VALIDATION_ERROR', 'options.url invalid_type']],
]
for (const [name, body, expected] of refused) {
  t.test(`parseCreateBody refuses ${name}`, async (t) => t.strictSame(problems(body), expected))
}

t.test('parseCreateBody ignores unknown names, and nothing else, when it is lenient', async (t) => {
  const body = { url, color: 1, options: { fullpage: true, full_page: true } }
  t.strictSame(parseCreateBody(body, rules, true), { url, options: { fullPage: true }, ignored: ['color', 'options.fullpage'] })
  t.strictSame(problems({ url, options: { fullpage: true, delay: 'x' } }, true), ['VALIDATION_ERROR', 'options.delay invalid_type'])
})

t.test('parseCreateBody never repeats a value', async (t) => {
  const body = { url: 'https://me:hunter2@example.com/', options: { format: 'hunter2', styles: 7 } }
  const refusal = refusalOf(() => parseCreateBody(body, rules))
  t.equal(refusal?.details.length, 2)
  t.notMatch(JSON.stringify(refusal?.details), 'hunter2')
})

t.test('parseCreateBody takes markup in place of an address', async (t) => {
  t.match(parseCreateBody({ options: { html: '<p>' } }, rules), { url: 'about:html', options: { html: '<p>' } })
  const based = { markdown: '# a', html_base_url: 'https://example.com/a' }
  t.match(parseCreateBody({ options: based }, rules), { url: 'https://example.com/a', options: { markdown: '# a' } })
})

t.test('parseCreateBody makes private options of the user and password in a proxy', async (t) => {
  const options = { proxy: 'http://us%20er:p%40ss@proxy.example:3128' }
  t.match(parseCreateBody({ url, options }, rules), {
    options: { proxy: 'http://proxy.example:3128' },
    privateOptions: { proxyUsername: 'us er', proxyPassword: 'p@ss' },
  })
  t.match(parseCreateBody({ url, options: { ...options, proxy_username: 'other' } }, rules).privateOptions, { proxyUsername: 'other' })
})
