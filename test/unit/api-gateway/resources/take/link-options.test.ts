import t from 'tap'
import { assertLinkOptions, isHostAllowed } from '../../../../../api-gateway/src/resources/take/link-options.ts'

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
    ['not a url', false],
  ]
  for (const [url, isAllowed] of cases) t.equal(isHostAllowed(url, policy), isAllowed, url)
  t.equal(isHostAllowed('https://any.example.net/', {}), true, 'without a policy all hosts are allowed')
})
