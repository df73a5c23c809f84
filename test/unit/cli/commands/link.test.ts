import t from 'tap'
import { toExpiry } from '../../../../api-gateway/cli/src/commands/link.ts'
import { signLink } from '../../../../api-gateway/client/src/index.ts'
import { runCli } from '../fake-world.ts'

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

t.test('link needs a key id and a secret, and refuses options with secrets', async (t) => {
  const missing = await runCli(['link', 'example.com'], { environment: { TINTYPE_URL: baseUrl } })
  t.match(missing, { code: 2, stderr: /the key id or the link secret is missing/ })
  const secret = await runCli(['link', 'example.com', '--headers', 'A: b'], { environment })
  t.match(secret, { code: 2, stderr: /unknown option --headers/ })
})

t.test('toExpiry reads durations and times', async (t) => {
  const now = new Date(1_000_000)
  t.equal(toExpiry('30m', now), 2_800)
  t.equal(toExpiry('12h', now), 44_200)
  t.equal(toExpiry('1800000000', now), 1_800_000_000)
  t.equal(toExpiry('2026-12-01T00:00:00Z', now), 1_796_083_200)
  t.throws(() => toExpiry('soon', now), { message: /--expires "soon" is no time/ })
})
