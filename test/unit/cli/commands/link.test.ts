import t, { type Test } from 'tap'
import { toExpiry } from '../../../../api-gateway/cli/src/commands/link.ts'
import { signLink } from '../../../../api-gateway/client/src/index.ts'
import { runCli, sendError, sendJson, serve } from '../fake-world.ts'

const baseUrl = 'https://tintype.example.com'
const environment = { TINTYPE_URL: baseUrl, TINTYPE_LINK_KEY: 'key_1', TINTYPE_LINK_SECRET: 'lsk_secret' }

t.test('link prints the link that the client signs', async (t) => {
  const args = ['link', 'example.com', '--viewport-width', '1200', '--no-full-page', '--hide-selectors', '.b', '--hide-selectors', '.a']
  const { code, stdout } = await runCli([...args, '--expires', '7d'], { environment })
  t.equal(code, 0)
  const params = { viewport_width: 1200, full_page: false, hide_selectors: ['.b', '.a'], url: 'https://example.com' }
  const expires = new Date('2026-12-01T12:00:00Z')
  const own = new URL(stdout.trim())
  const expected = new URL(await signLink({ baseUrl, key: 'key_1', secret: 'lsk_secret', params, expires }))
  t.equal(own.searchParams.get('signature'), expected.searchParams.get('signature'))
  t.equal(own.pathname, '/v1/take')
})

t.test('link takes objects, as REST does, and markup in place of the URL', async (t) => {
  const { stdout } = await runCli(['link', '--html', '<p>', '--media-features', 'color-gamut=p3'], { environment })
  const { searchParams } = new URL(stdout.trim())
  t.equal(searchParams.get('media_features'), '{"color-gamut":"p3"}')
  t.equal(searchParams.get('html'), '<p>')
  t.match(await runCli(['link'], { environment }), { code: 2, stderr: /a URL is missing/ })
  t.match(await runCli(['link', 'a.example', '--html', 'x'], { environment }), { code: 2, stderr: /replace the URL/ })
})

t.test('link refuses options that no link may have', async (t) => {
  for (const flag of [
    '--headers=A: b',
    '--authorization=x',
    '--proxy=http://p',
    '--scripts=x',
    '--webhook-url=https://h',
    '--no-cache',
    '--async',
  ]) {
    const { code, stderr } = await runCli(['link', 'example.com', flag], { environment })
    t.match({ code, stderr }, { code: 2, stderr: /^tintype: unknown option --/ }, flag)
  }
})

t.test('link checks its arguments before it calls the service', async (t) => {
  const wrong = { TINTYPE_URL: 'http://127.0.0.1:1', TINTYPE_API_KEY: 'key' }
  const cases: [args: string[], message: RegExp][] = [
    [['--expires', '2020-01-01'], /--expires "2020-01-01" is in the past/],
    [['--expires', 'soon'], /--expires "soon" is no time/],
    [['--on-error', 'text'], /--on-error must be image, but is "text"/],
  ]
  for (const [args, message] of cases) {
    t.match(await runCli(['link', 'example.com', ...args], { environment: wrong }), { code: 2, stderr: message })
  }
  t.match(await runCli(['link', 'example.com']), { code: 3, stderr: /the URL of the service is not set/ })
  t.match(await runCli(['link', 'example.com'], { environment: { TINTYPE_URL: baseUrl } }), {
    code: 3,
    stderr: /the API key for .* is not set/,
  })
})

t.test('link signs with --on-error, in the query of the link', async (t) => {
  const { stdout } = await runCli(['link', 'example.com', '--on-error', 'image'], { environment })
  t.equal(new URL(stdout.trim()).searchParams.get('on_error'), 'image')
})

t.test('kubectl tintype prints no link to a forwarded port', async (t) => {
  const { code, stderr } = await runCli(['link', 'example.com'], { isKubectlPlugin: true, environment: { PATH: '/nonexistent' } })
  t.match({ code, stderr }, { code: 3, stderr: /the URL of the service is not set/ })
})

interface FakeKey {
  id: string
  last_four: string | null
}

/** A service with these keys. Resolves to its URL and the requests that it gets. */
async function serveKeys(t: Test, keys: readonly FakeKey[]): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = []
  const { url, stop } = await serve(({ method, url: path = '', headers }, response) => {
    requests.push(`${method} ${path.split('?')[0]} ${headers.authorization}`)
    const [, id] = /\/keys\/(\w+)\/link-secret/.exec(path) ?? []
    if (id !== undefined) return sendJson(response, { data: { key: id, link_secret: `lsk_of_${id}` } })
    return sendJson(response, { data: keys, pagination: { limit: 100, offset: 0, total: keys.length, has_more: false } })
  })
  t.teardown(stop)
  return { url, requests }
}

/** The link with a key and its secret, as the client signs it. */
const linkOf = (url: string, id: string): Promise<string> =>
  signLink({ baseUrl: url, key: id, secret: `lsk_of_${id}`, params: { url: 'https://example.com' } })

t.test('link takes the key and the secret of its API key from the service', async (t) => {
  const { url, requests } = await serveKeys(t, [
    { id: 'key_1', last_four: 'zzzz' },
    { id: 'key_2', last_four: 'wxyz' },
    { id: 'key_3', last_four: null },
  ])
  const { stdout } = await runCli(['link', 'example.com'], { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'ttk_abcdwxyz' } })
  t.equal(stdout.trim(), await linkOf(url, 'key_2'))
  t.strictSame(requests, ['GET /api/v1/keys Bearer ttk_abcdwxyz', 'POST /api/v1/keys/key_2/link-secret Bearer ttk_abcdwxyz'])
})

t.test('link takes only the secret from the service if the key is named, and never signs with the secret of another key', async (t) => {
  const { url, requests } = await serveKeys(t, [])
  const own = { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' }
  const stored = { ...own, TINTYPE_LINK_KEY: 'key_1', TINTYPE_LINK_SECRET: 'lsk_of_key_1' }
  const other = await runCli(['link', 'example.com', '--link-key', 'key_9'], { environment: stored })
  t.equal(other.stdout.trim(), await linkOf(url, 'key_9'))
  t.strictSame(requests, ['POST /api/v1/keys/key_9/link-secret Bearer key'])
  const same = await runCli(['link', 'example.com', '--link-key', 'key_1'], { environment: stored })
  t.equal(same.stdout.trim(), await linkOf(url, 'key_1'))
  t.equal(requests.length, 1, 'a stored secret needs no request')
})

t.test('link names what to do if its API key is not found, not unique, or lacks a scope', async (t) => {
  const run = (url: string) => runCli(['link', 'example.com'], { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'ttk_wxyz' } })
  const none = await serveKeys(t, [{ id: 'key_1', last_four: 'zzzz' }])
  t.match(await run(none.url), { code: 1, stderr: /^tintype: no API key of the account ends in …wxyz\. .*--link-key/ })
  const two = await serveKeys(t, [
    { id: 'key_1', last_four: 'wxyz' },
    { id: 'key_2', last_four: 'wxyz' },
  ])
  t.match(await run(two.url), { code: 1, stderr: /^tintype: several API keys of the account end in …wxyz\. .*--link-key/ })
  const { url, stop } = await serve((_, response) =>
    sendError(response, 403, 'INSUFFICIENT_SCOPE', 'the API key lacks the scope keys:read'),
  )
  t.teardown(stop)
  t.match(await run(url), { code: 3, stderr: /may not read the link secret: .*keys:read\. Use another API key, or set TINTYPE_LINK_KEY/ })
})

t.test('keys link-secret prints the secret alone, of the own key or of another one', async (t) => {
  const { url, requests } = await serveKeys(t, [{ id: 'key_2', last_four: 'wxyz' }])
  const own = { TINTYPE_URL: url, TINTYPE_API_KEY: 'ttk_wxyz' }
  const first = await runCli(['keys', 'link-secret'], { environment: own })
  t.match(first, { code: 0, stdout: 'lsk_of_key_2\n', stderr: /key_2/ })
  t.equal((await runCli(['keys', 'link-secret', 'key_7'], { environment: own })).stdout, 'lsk_of_key_7\n')
  const json = await runCli(['keys', 'link-secret', 'key_7', '--json'], { environment: own })
  t.strictSame(JSON.parse(json.stdout), { key: 'key_7', link_secret: 'lsk_of_key_7' })
  t.equal((await runCli(['keys', 'rotate-link-secret', 'key_7', '--overlap-hours', '2'], { environment: own })).stdout, 'lsk_of_key_7\n')
  t.equal(requests.at(-1), 'POST /api/v1/keys/key_7/link-secret/rotate Bearer ttk_wxyz')
})

t.test('toExpiry reads durations and times', async (t) => {
  const now = new Date(1_000_000)
  t.equal(toExpiry('30m', now), 2_800)
  t.equal(toExpiry('12h', now), 44_200)
  t.equal(toExpiry('1800000000', now), 1_800_000_000)
  t.equal(toExpiry('2026-12-01T00:00:00Z', now), 1_796_083_200)
  for (const past of ['7', '0d', '1970-01-01']) t.throws(() => toExpiry(past, now), { message: `--expires "${past}" is in the past` })
  t.throws(() => toExpiry('soon', now), { message: /--expires "soon" is no time/ })
})
