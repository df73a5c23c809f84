import t, { type Test } from 'tap'
import { toExpiry } from '../../../../api-gateway/cli/src/commands/link.ts'
import { configurationFile, readConfiguration } from '../../../../api-gateway/cli/src/settings/settings.ts'
import { signLink } from '../../../../api-gateway/client/src/index.ts'
import { aService, failing, pageOf, runCli } from '../fake-world.ts'

// Commands for keys, signed links, webhooks, profiles and the web console.

const created = { 'POST /keys': { data: { id: 'key_1', key: 'ttk_x', scopes: ['*'], expires_at: null } } }

t.test('keys create sends the link policy of its flags, and none without them', async (t) => {
  const { run, requests } = await aService(t, created)
  const hosts = '--allowed-hosts example.com --allowed-hosts *.example.com'
  t.match(await run(`keys create links ${hosts} --allowed-options viewport_width --allow-own-markup`), { code: 0, stdout: 'ttk_x\n' })
  await run('keys create links --no-allow-own-markup')
  await run('keys create links')
  const policy = { allowed_hosts: ['example.com', '*.example.com'], allowed_options: ['viewport_width'], allow_own_markup: true }
  t.strictSame(
    requests.map((request) => JSON.parse(request.replace('POST /keys ', ''))),
    [{ name: 'links', link_policy: policy }, { name: 'links', link_policy: { allow_own_markup: false } }, { name: 'links' }],
  )
})

t.test('keys create sends the capture policy of its flags', async (t) => {
  const { run, requests } = await aService(t, created)
  await run('keys create one --capture-hosts example.com --request-hosts *.example.com --no-own-content')
  await run('keys create one --capture-options format --capture-options delay --allowed-hosts example.com')
  t.strictSame(
    requests.map((request) => JSON.parse(request.replace('POST /keys ', ''))),
    [
      {
        name: 'one',
        capture_policy: { allowed_hosts: ['example.com'], allowed_request_hosts: ['*.example.com'], allow_own_content: false },
      },
      { name: 'one', link_policy: { allowed_hosts: ['example.com'] }, capture_policy: { allowed_options: ['format', 'delay'] } },
    ],
  )
})

t.test('keys policy prints the capture policy in one line, and keys check-url tests a URL against it', async (t) => {
  const policy = { allowed_hosts: ['example.com'], allowed_request_hosts: [], allowed_options: null, allow_own_content: null }
  const reason = 'the capture policy of key_1 does not allow the host'
  const { run, requests } = await aService(t, {
    'GET /keys/key_1': { data: { id: 'key_1', capture_policy: policy } },
    'GET /keys/key_2': { data: { id: 'key_2', capture_policy: null } },
    'POST /keys/key_1/check-url': ({ body }) => {
      const allowed = body.url === 'https://example.com/'
      return { data: { url: body.url, allowed, reason: allowed ? null : reason } }
    },
  })
  t.equal((await run('keys policy key_1')).stdout, 'hosts example.com; request hosts none; no own content\n')
  t.equal((await run('keys policy key_2')).stdout, 'no limits\n')
  t.match(await run('keys check-url key_1 https://example.com/'), { code: 0, stdout: 'allowed\n' })
  t.match(await run('keys check-url key_1 https://other.example/'), { code: 1, stdout: `not allowed: ${reason}\n` })
  t.match(requests.at(-1), '{"url":"https://other.example/"}')
})

t.test('keys create reads scopes with commas, and says which scopes the key has and when it ends', async (t) => {
  const { run, requests } = await aService(t, {
    'POST /keys': ({ body }) => ({
      data: { key: 'ttk_x', scopes: body.scopes ?? ['*'], expires_at: body.expires_in_days ? '2026-12-24T12:00:00.000Z' : null },
    }),
  })
  const { stdout, stderr } = await run(
    'keys create ci --scopes',
    'screenshots:read, screenshots:write',
    ...['--scopes', 'usage:read', '--expires-in-days', '30'],
  )
  t.match(requests[0], '"scopes":["screenshots:read","screenshots:write","usage:read"]')
  t.equal(stdout, 'ttk_x\n')
  t.match(stderr, 'Scopes: screenshots:read, screenshots:write, usage:read. Expires: 2026-12-24 12:00 UTC.\n')
  t.match((await run('keys create ci')).stderr, 'Scopes: *. Expires: never.\n')
  t.match((await run('keys create --help')).stdout, 'screenshots:read')
})

t.test('open prints a link that signs in to the console', async (t) => {
  const { url, environment, requests, authorizations } = await aService(t, {
    'POST /console/codes': { data: { code: 'c', path: '/#code=c', expires_at: '2026-11-24T12:10:00.000Z' } },
  })
  const own = { environment: { ...environment, TINTYPE_URL: `${url}/api/v1/` } }
  t.strictSame(await runCli(['open'], own), { code: 0, stdout: `${url}/#code=c\n`, stderr: '' })
  t.strictSame([requests, authorizations], [['POST /console/codes'], ['Bearer key']])
  t.equal(JSON.parse((await runCli(['open', '--json'], own)).stdout).expires_at, '2026-11-24T12:10:00.000Z')
})

t.test('open names a service without a console, a refused key, and a service that is away', async (t) => {
  const { run } = await aService(t, {})
  t.match(await run('open'), { code: 1, stderr: /has no web console: an administrator has switched it off/ })
  const refusing = await aService(t, { 'POST /console/codes': failing(401, 'INVALID_API_KEY') })
  t.match(await refusing.run('open'), { code: 3, stderr: /refuses the API key/ })
  refusing.stop()
  t.match(await refusing.run('open'), { code: 3, stderr: /cannot reach http:/ })
})

t.test('webhooks list shows the webhooks', async (t) => {
  const hook = { id: 'wh_1', name: 'billing', is_active: true, events: ['screenshot.failed'], url: 'https://hooks.example.com/' }
  const { run } = await aService(t, { 'GET /webhooks': pageOf(hook) })
  const table = /^ID +NAME +ACTIVE +EVENTS +URL\nwh_1 +billing +yes +screenshot.failed +https:\/\/hooks.example.com\/\n/
  t.match((await run('webhooks list')).stdout, table)
})

t.test('config set stores a key of standard input, and config list does not show it', async (t) => {
  const environment = { XDG_CONFIG_HOME: t.testdir() }
  const url = 'https://home.example'
  const stored = await runCli(['config', 'set', url, '-', '--profile', 'local'], { environment, input: 'home-key\n' })
  t.equal(stored.code, 0, stored.stderr)
  const file = configurationFile(environment)
  t.match(readConfiguration(file).profiles, { local: { url, apiKey: 'home-key' } })
  const { stdout } = await runCli(['config', 'list'], { environment })
  t.match(stdout, url)
  t.notMatch(stdout, 'home-key')
})

const baseUrl = 'https://tintype.example.com'
const environment = { TINTYPE_URL: baseUrl, TINTYPE_LINK_KEY: 'key_1', TINTYPE_LINK_SECRET: 'lsk_secret' }
/** Signs a link with keys of the environment, so without a service. */
const link = (words: string, ...more: string[]) => runCli([...`link ${words}`.trim().split(' '), ...more], { environment })
const parametersOf = ({ stdout }: { stdout: string }) => new URL(stdout.trim()).searchParams

t.test('link prints the link that the client signs', async (t) => {
  const { code, stdout } = await link(
    'example.com --viewport-width 1200 --no-full-page --hide-selectors .b --hide-selectors .a --expires 7d',
  )
  t.equal(code, 0)
  const params = { viewport_width: 1200, full_page: false, hide_selectors: ['.b', '.a'], url: 'https://example.com' }
  const expires = new Date('2026-12-01T12:00:00Z')
  const expected = new URL(await signLink({ baseUrl, key: 'key_1', secret: 'lsk_secret', params, expires }))
  t.equal(parametersOf({ stdout }).get('signature'), expected.searchParams.get('signature'))
  t.equal(new URL(stdout.trim()).pathname, '/v1/take')
})

t.test('link takes objects, as REST does, markup in place of the URL, and --on-error', async (t) => {
  const parameters = parametersOf(await link('--html <p> --media-features color-gamut=p3 --on-error image'))
  t.equal(parameters.get('media_features'), '{"color-gamut":"p3"}')
  t.equal(parameters.get('html'), '<p>')
  t.equal(parameters.get('on_error'), 'image')
})

const noOption = /^tintype: unknown option --/
for (const [words, message] of [
  ['', /a URL is missing/],
  ['a.example --html x', /replace the URL/],
  ['a.example --headers=A:b', noOption],
  ['a.example --authorization=x', noOption],
  ['a.example --proxy=http://p', noOption],
  ['a.example --scripts=x', noOption],
  ['a.example --webhook-url=https://h', noOption],
  ['a.example --no-cache', noOption],
  ['a.example --async', noOption],
  ['a.example --expires 2020-01-01', /--expires "2020-01-01" is in the past/],
  ['a.example --expires soon', /--expires "soon" is no time/],
  ['a.example --on-error text', /--on-error must be image, but is "text"/],
] as const) {
  t.test(`link refuses before it calls the service: ${words || 'no argument'}`, async (t) => {
    const { requests, run } = await aService(t, {})
    t.match(await run(`link ${words}`.trim()), { code: 2, stderr: message })
    t.strictSame(requests, [])
  })
}

t.test('link names the settings that are missing, and kubectl tintype prints no link to a forwarded port', async (t) => {
  const noUrl = { code: 3, stderr: /the URL of the service is not set/ }
  t.match(await runCli(['link', 'example.com']), noUrl)
  t.match(await runCli(['link', 'example.com'], { environment: { TINTYPE_URL: baseUrl } }), {
    code: 3,
    stderr: /the API key for .* is not set/,
  })
  t.match(await runCli(['link', 'example.com'], { isKubectlPlugin: true, environment: { PATH: '/nonexistent' } }), noUrl)
})

/** A service with these keys, by their id and the end of their text. Any key of `key_1` to `key_9` has a link secret. */
async function serveKeys(t: Test, keys: Record<string, string | null>) {
  const data = Object.entries(keys).map(([id, last_four]) => ({ id, last_four }))
  const secrets = [1, 2, 7, 9].flatMap((number) => {
    const reply = { data: { key: `key_${number}`, link_secret: `lsk_of_key_${number}` } }
    const path = `POST /keys/key_${number}/link-secret`
    return [
      [path, reply],
      [`${path}/rotate`, reply],
    ]
  })
  const pagination = { limit: 100, offset: 0, total: data.length, has_more: false }
  return aService(t, { 'GET /keys': { data, pagination }, ...Object.fromEntries(secrets) })
}

/** The link with a key and its secret, as the client signs it. */
const linkOf = (url: string, id: string): Promise<string> =>
  signLink({ baseUrl: url, key: id, secret: `lsk_of_${id}`, params: { url: 'https://example.com' } })

t.test('link takes the key and the secret of its API key from the service', async (t) => {
  const { url, requests, authorizations } = await serveKeys(t, { key_1: 'zzzz', key_2: 'wxyz', key_3: null })
  const { stdout } = await runCli(['link', 'example.com'], { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'ttk_abcdwxyz' } })
  t.equal(stdout.trim(), await linkOf(url, 'key_2'))
  t.strictSame(
    requests.map((request) => request.split('?')[0]),
    ['GET /keys', 'POST /keys/key_2/link-secret'],
  )
  t.strictSame(authorizations, ['Bearer ttk_abcdwxyz', 'Bearer ttk_abcdwxyz'])
})

t.test('link takes only the secret from the service if the key is named, and never signs with the secret of another key', async (t) => {
  const { url, requests, environment: own } = await serveKeys(t, {})
  const stored = { ...own, TINTYPE_LINK_KEY: 'key_1', TINTYPE_LINK_SECRET: 'lsk_of_key_1' }
  for (const id of ['key_9', 'key_1']) {
    const { stdout } = await runCli(['link', 'example.com', '--link-key', id], { environment: stored })
    t.equal(stdout.trim(), await linkOf(url, id))
    t.strictSame(requests, ['POST /keys/key_9/link-secret'], 'a stored secret needs no request')
  }
})

t.test('link names what to do if its API key is not found, not unique, or lacks a scope', async (t) => {
  const found = async (words: string, keys: Record<string, string>) =>
    t.match(
      await runCli(['link', 'a.example'], { environment: { ...(await serveKeys(t, keys)).environment, TINTYPE_API_KEY: 'ttk_wxyz' } }),
      {
        code: 1,
        stderr: new RegExp(`^tintype: ${words} of the account .* in …wxyz\\. .*--link-key`),
      },
    )
  await found('no API key', { key_1: 'zzzz' })
  await found('several API keys', { key_1: 'wxyz', key_2: 'wxyz' })
  const { run } = await aService(t, { 'GET /keys': failing(403, 'INSUFFICIENT_SCOPE', 'the API key lacks the scope keys:read') })
  const message = /may not read the link secret: .*keys:read\. Use another API key, or set TINTYPE_LINK_KEY/
  t.match(await run('link a.example'), { code: 3, stderr: message })
})

t.test('keys link-secret prints the secret alone, of the own key or of another one', async (t) => {
  const { url, requests } = await serveKeys(t, { key_2: 'wxyz' })
  const run = (words: string) => runCli(words.split(' '), { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'ttk_wxyz' } })
  t.match(await run('keys link-secret'), { code: 0, stdout: 'lsk_of_key_2\n', stderr: /key_2/ })
  t.equal((await run('keys link-secret key_7')).stdout, 'lsk_of_key_7\n')
  t.strictSame(JSON.parse((await run('keys link-secret key_7 --json')).stdout), { key: 'key_7', link_secret: 'lsk_of_key_7' })
  t.equal((await run('keys rotate-link-secret key_7 --overlap-hours 2')).stdout, 'lsk_of_key_7\n')
  t.equal(requests.at(-1), 'POST /keys/key_7/link-secret/rotate {"overlap_hours":2}')
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
