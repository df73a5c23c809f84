import t from 'tap'
import { assertLinkOptions, isHostAllowed } from '../../../../../api-gateway/src/resources/take/link-options.ts'
import { exampleOf } from '../../../../../crds/src/options/examples.ts'
import { optionsByName } from '../../../../../crds/src/options/groups.ts'
import { isRefusedInLinks } from '../../../../../crds/src/options/rules/option-rules.ts'
import { toSnakeCase } from '../../../../../crds/src/text/snake-case.ts'

const refusedBy = (options: Record<string, unknown>, policy = {}): string[] | undefined => {
  try {
    assertLinkOptions(options, policy)
    return undefined
  } catch (error) {
    return (error as { details: { path: string }[] }).details.map(({ path }) => path)
  }
}

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

t.test('links accept ordinary options', async (t) => {
  t.equal(refusedBy({ viewport_width: 1200, format: 'webp', cache: true, cache_refresh: false, cache_ttl: 60, styles: 'a{}' }), undefined)
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
  for (const [option, { rules }] of optionsByName) {
    const name = toSnakeCase(option)
    const values = typeof rules.links === 'object' ? [true, false] : [exampleOf(option)]
    for (const value of values) {
      const isRefused = isRefusedInLinks(rules.links, value)
      const isRefusedByHosts = isRefused || rules.links === 'own_markup'
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
  for (const [url, isAllowed] of cases) t.equal(isHostAllowed(url, policy), isAllowed, url)
  t.equal(isHostAllowed('https://any.example.net/', {}), true, 'without a policy all hosts are allowed')
})
