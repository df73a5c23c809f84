import { readFileSync } from 'node:fs'
import t from 'tap'
import { signedParameters } from '../../../../../api-gateway/client/src/link/canonical.ts'
import { captureOptionFields, recordOptions } from '../../../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { assertLinkOptions } from '../../../../../api-gateway/src/resources/take/link-options.ts'
import { MAX_QUERY_LENGTH, parseLinkQuery } from '../../../../../api-gateway/src/resources/take/link-query.ts'
import { ParsedLink, ParsedLinks } from '../../../../../api-gateway/src/resources/take/parsed-link.ts'
import { isTracking, TRACKING_NAMES, TRACKING_PREFIXES } from '../../../../../api-gateway/src/resources/take/tracking-parameters.ts'
import { exampleOf, optionsByName } from '../../../../../crds/src/options/groups.ts'
import { isRefusedInLinks } from '../../../../../crds/src/options/rules/declare.ts'
import { findRefusedUrl, toLinkLimits } from '../../../../../crds/src/policies/refusals.ts'
import { toSnakeCase } from '../../../../../crds/src/text/words.ts'
import { assertEvery } from '../../../../support/accepts.ts'
import { refusalOf } from '../../requests.ts'

const problemsOf = (query: string) => refusalOf(() => parseLinkQuery(query))?.details.map(({ message }) => message) ?? []

t.test('options have the types of their schemas', async (t) => {
  const { options, url, key } = parseLinkQuery(
    'key=key_1&url=https%3A%2F%2Fexample.com%2F%3Fa%3Db&viewport_width=1200&page_zoom=1.5&full_page=true&format=webp' +
      '&hide_selectors=.a&hide_selectors=.b&wait_until=load&media_features=%7B%22prefers-reduced-data%22%3A%22reduce%22%7D',
  )
  t.equal(key, 'key_1')
  t.equal(url, 'https://example.com/?a=b')
  t.strictSame(options, {
    viewport_width: 1200,
    page_zoom: 1.5,
    full_page: true,
    format: 'webp',
    hide_selectors: ['.a', '.b'],
    wait_until: ['load'],
    media_features: { 'prefers-reduced-data': 'reduce' },
  })
})

t.test('a text without the form of its type stays a text, which the schema of the option refuses', async (t) => {
  const { options } = parseLinkQuery('viewport_width=wide&full_page=1&page_zoom=1e3&media_features=%7B')
  t.strictSame(options, { viewport_width: 'wide', full_page: '1', page_zoom: '1e3', media_features: '{' })
})

t.test('texts of options stay texts, also if they look like numbers', async (t) => {
  t.strictSame(parseLinkQuery('click=12&timezone=true').options, { click: '12', timezone: 'true' })
})

t.test('the signature and the names of tracking services are not signed', async (t) => {
  const { signed, signature } = parseLinkQuery('utm_source=mail&url=a&fbclid=1&signature=b&gclid=2&key=c&utm_=3')
  t.strictSame(signed, [
    ['url', 'a'],
    ['key', 'c'],
  ])
  t.equal(signature, 'b')
})

t.test('a query is decoded once', async (t) => {
  t.strictSame(parseLinkQuery('url=https%253A%252F%252Fexample.com').url, 'https%3A%2F%2Fexample.com')
  t.strictSame(parseLinkQuery('click=a+b%2Bc').options, { click: 'a b+c' })
})

t.test('unknown names are refused with the closest known name', async (t) => {
  t.strictSame(problemsOf('viewport_widht=1'), ['viewport_widht is not known here; did you mean viewport_width?'])
  t.strictSame(problemsOf('__proto__=1').length, 1)
  t.strictSame(problemsOf('async=true').length, 1, 'options of the response have no meaning in a link')
})

t.test('a name that is not a list is refused when it is repeated', async (t) => {
  t.strictSame(problemsOf('url=a&url=b&key=c&key=d&full_page=true&full_page=true&hide_selectors=a&hide_selectors=b'), [
    'url must be given once',
    'key must be given once',
    'full_page must be given once',
  ])
})

t.test('a query that is too long is refused', async (t) => {
  t.match(problemsOf(`url=${'a'.repeat(MAX_QUERY_LENGTH)}`), [/at most 8000 characters/])
})

const refusedBy = (options: Record<string, unknown>, policy = {}) =>
  refusalOf(() => assertLinkOptions(options, [toLinkLimits(policy)]))?.details.map(({ path }) => path)

t.test('links refuse secrets, scripts, proxies, own storage, callbacks, and captures with each request', async (t) => {
  const refused = {
    headers: { a: 'b' },
    cookies: ['a=b'],
    authorization: 'Bearer a',
    scripts: 'alert(1)',
    script_urls: ['https://example.com/a.js'],
    init_script: 'alert(1)',
    wait_for_function: 'true',
    proxy: 'http://proxy.example.com',
    storage_bucket: 'bucket',
    webhook_url: 'https://example.com/hook',
    webhook_events: ['screenshot.completed'],
    cache: false,
    cache_refresh: true,
  }
  t.strictSame(refusedBy(refused), Object.keys(refused))
})

t.test('the link policy of a key narrows the options', async (t) => {
  t.strictSame(refusedBy({ format: 'webp', full_page: true }, { allowedOptions: ['format'] }), ['full_page'])
  t.equal(refusedBy({ full_page: true }, { allowedOptions: ['fullPage'] }), undefined)
  t.equal(refusedBy({ format: 'webp' }, { allowedOptions: ['format'] }), undefined)
  t.strictSame(refusedBy({ format: 'webp' }, { allowedOptions: [] }), ['format'])
})

t.test('the link policy cannot allow what links refuse', async (t) => {
  t.strictSame(refusedBy({ proxy: 'http://a.example' }, { allowedOptions: ['proxy'] }), ['proxy'])
})

t.test('a link with any option is accepted or refused as the option declares', async (t) => {
  const policies = [{}, { allowedHosts: [] }, { allowedHosts: [], allowOwnMarkup: true }, { allowOwnMarkup: false }]
  for (const [option, { facts }] of optionsByName) {
    const name = toSnakeCase(option)
    const values = typeof facts.links === 'object' ? [true, false] : [exampleOf(option)]
    for (const value of values) {
      const isRefused = isRefusedInLinks(facts.links, value)
      const isRefusedByHosts = isRefused || facts.links === 'own_markup'
      const refusals = policies.map((policy) => refusedBy({ [name]: value }, policy) !== undefined)
      t.strictSame(refusals, [isRefused, isRefusedByHosts, isRefused, isRefusedByHosts], `${name}=${value}`)
    }
  }
})

t.test('a link policy with hosts refuses own markup that allowed_options names, unless it has allow_own_markup', async (t) => {
  const policy = { allowedHosts: ['example.com'], allowedOptions: ['html', 'format'] }
  t.strictSame(refusedBy({ html: 'a', format: 'webp', delay: 1 }, policy), ['html', 'delay'])
  t.strictSame(refusedBy({ html: 'a', styles: 'a{}' }, { ...policy, allowOwnMarkup: true }), ['styles'])
})

t.test('the link policy of a key narrows the hosts', async (t) => {
  const policy = { allowedHosts: ['example.com', '*.Example.org'] }
  const cases: [string, boolean][] = [
    ['https://example.com/a', true],
    ['https://EXAMPLE.com./a', true],
    ['http://example.com:8080/', true],
    ['https://www.example.com/', false],
    ['https://example.com.evil.net/', false],
    ['https://evil.net/example.com', false],
    ['https://example.com@evil.net/', false],
    ['https://a.example.org/', true],
    ['https://a.b.example.org/', true],
    ['https://example.org/', false],
    ['https://badexample.org/', false],
    ['about:blank', false],
    ['about:html', true],
    ['not a url', false],
  ]
  for (const [url, isAllowed] of cases) t.equal(findRefusedUrl(url, toLinkLimits(policy)) === undefined, isAllowed, url)
  t.equal(findRefusedUrl('https://any.example.net/', toLinkLimits({})), undefined, 'without a policy all hosts are allowed')
})

const aLink = () => new ParsedLink(parseLinkQuery(''), { url: 'https://example.com/', format: 'png', cache: { cache: true, cacheTtl: 60 } })
const aRing = (secret: string) => ({ current: 'a', keys: { a: Buffer.from(secret).toString('base64') } })

t.test('ParsedLink calculates another hash for another account, key ring or lists of hosts', async (t) => {
  const link = aLink()
  const [ring, other] = [aRing('a secret'), aRing('another')]
  const [acme, limited] = [{ account: 'acme' }, { account: 'acme', policy: { allowedHosts: ['example.com'] } }]
  const hash = link.hashFor(acme, ring)
  t.match(hash, /^[0-9a-f]{64}$/)
  t.equal(link.hashFor(acme, ring), hash)
  t.not(link.hashFor({ account: 'other' }, ring), hash)
  t.not(link.hashFor(acme, other), hash)
  t.not(link.hashFor(limited, ring), hash)
  t.equal(link.hashFor(acme, ring), hash)
})

t.test('ParsedLinks forgets the links that were not used for the longest time, by number and by length', async (t) => {
  const links = new ParsedLinks()
  for (let index = 0; index <= 1_000; index++) links.add(String(index), aLink())
  t.equal(links.get('0'), undefined)
  t.ok(links.get('1'))
  for (let index = 0; index < 125; index++) links.add(`${index}`.padEnd(8_000), aLink())
  t.equal(links.get('1'), undefined)
  t.ok(links.get('124'.padEnd(8_000)))
  links.add('', aLink())
  t.ok(links.get(''))
})

const names = Object.values(TRACKING_NAMES).flat()
const samples = [...names, ...TRACKING_PREFIXES.map((prefix) => `${prefix}x`)]

t.test('gateway and client leave out the same tracking parameters', async (t) => {
  for (const name of samples) {
    t.ok(isTracking(name), name)
    t.strictSame(signedParameters(`${name}=1&url=a`), [['url', 'a']], name)
  }
})

t.test('neither an option nor a parameter of links is a tracking parameter', async (t) => {
  const own = ['key', 'url', 'expires', 'signature', 'on_error', ...Object.keys(captureOptionFields), ...Object.keys(recordOptions)]
  t.strictSame(own.filter(isTracking), [])
})

t.test('docs/links.md lists each tracking parameter', async (t) => {
  const page = readFileSync(new URL('../../../../../docs/links.md', import.meta.url), 'utf8')
  const isListed = (text: string): boolean => page.includes(`\`${text}\``)
  assertEvery(t, [...names, ...TRACKING_PREFIXES.map((prefix) => `${prefix}*`)], isListed)
})
