import t from 'tap'
import { nearest } from '../../../../api-gateway/cli/src/common/nearest.ts'
import { type Handler, runCli, sendError, sendJson, serve } from '../fake-world.ts'

// Errors of the client speak to programmers. These tests hold that the program says the same to a person at a terminal.

const pending = { id: 'scr_1', url: 'https://example.com', status: 'pending', started_at: null, created_at: '2026-11-24T12:00:00.000Z' }

async function errorOf(handler: Handler, args = ['usage']): Promise<{ code: number; stderr: string }> {
  const { url, stop } = await serve(handler)
  const { code, stderr } = await runCli(args, { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } })
  stop()
  return { code, stderr: stderr.replaceAll(url, 'SERVICE') }
}

const cases: [name: string, handler: Handler, args: string[], code: number, stderr: string][] = [
  [
    'a page that is not JSON',
    (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>'),
    ['usage'],
    3,
    'tintype: SERVICE does not respond like Tintype (HTTP 404). Run `tintype doctor` to find the cause.\n',
  ],
  [
    'a redirect',
    (_, response) => response.writeHead(301, { location: 'https://tintype.example.com/' }).end(),
    ['usage'],
    3,
    'tintype: the service redirects to https://tintype.example.com/. Set the URL of the service to the final URL of the service.\n',
  ],
  [
    'a refused key',
    (_, response) => sendError(response, 401, 'INVALID_API_KEY', 'the API key is not valid'),
    ['usage'],
    3,
    'tintype: SERVICE refuses the API key: it is unknown, inactive, expired or deleted. Set another one in TINTYPE_API_KEY, or with `tintype config set URL -`.\n',
  ],
  [
    'a missing scope',
    (_, response) => sendError(response, 403, 'INSUFFICIENT_SCOPE', 'the API key lacks the scope usage:read'),
    ['usage'],
    3,
    'tintype: the API key lacks the scope usage:read. Use an API key that has this scope.\n',
  ],
  [
    'a capture that does not end in time',
    (_, response) => sendJson(response, pending, 202),
    ['shot', 'example.com', '--wait-timeout', '1'],
    1,
    'tintype: the capture of scr_1 has not ended yet. Run `tintype watch scr_1` to keep waiting, or raise --wait-timeout.\n',
  ],
  [
    'a wrong option',
    (_, response) =>
      sendJson(
        response,
        {
          error: {
            code: 'VALIDATION_ERROR',
            message: 'x',
            details: [{ path: 'options.delay', code: 'too_big', message: 'options.delay must be at most 60000' }],
          },
        },
        400,
      ),
    ['shot', 'example.com', '--delay', '70000'],
    2,
    'tintype: --delay must be at most 60000\n',
  ],
  [
    'a spent quota',
    (_, response) =>
      sendJson(
        response,
        {
          error: {
            code: 'USAGE_LIMIT_REACHED',
            message: 'the usage limit was reached',
            details: { reset_at: '2026-12-01T00:00:00.000Z' },
          },
        },
        429,
      ),
    ['shot', 'example.com', '--async'],
    1,
    'tintype: the usage limit was reached. Wait until 2026-12-01 00:00 UTC, or ask an administrator of this service for a larger plan.\n',
  ],
]
for (const [name, handler, args, code, stderr] of cases) {
  t.test(`an error line explains ${name}`, async (t) => {
    t.strictSame(await errorOf(handler, args), { code, stderr })
  })
}

t.test('an error line explains a refused connection', async (t) => {
  const { url, stop } = await serve(() => {})
  stop()
  const { code, stderr } = await runCli(['usage'], { environment: { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' } })
  t.equal(code, 3)
  t.match(stderr, new RegExp(`^tintype: cannot reach ${url}: nothing accepts connections at .*\\. Check the port, .*\\.\n$`))
})

t.test('an error line cannot control the terminal', async (t) => {
  const { stderr } = await errorOf((_, response) => sendError(response, 404, 'NOT_FOUND', 'no \u{1b}[2J screenshot\nat all'))
  t.strictSame(stderr, 'tintype: no \u{fffd}[2J screenshot\u{fffd}at all. Check the id and the path.\n')
})

t.test('nearest finds mistyped and shortened names', async (t) => {
  const names = ['full-page', 'viewport-width', 'clip-width', 'format']
  t.equal(nearest('fullpage', names), 'full-page')
  t.equal(nearest('fromat', names), 'format')
  t.equal(nearest('width', names), 'viewport-width')
  t.equal(nearest('zzz', names), undefined)
})

t.test('a change beside hidden options says which flags are missing, and how to drop them', async (t) => {
  const message = 'the hidden options are stored as one encrypted text: give options.headers too, or null for what you no longer need'
  const details = [{ path: 'options.cookies', code: 'contradiction', message }]
  const { code, stderr } = await errorOf(
    (_, response) => sendJson(response, { success: false, error: { code: 'VALIDATION_ERROR', message, details } }, 400),
    ['schedules', 'update', 'sch_1', '--cookies', 'a=b'],
  )
  t.equal(code, 2)
  t.match(stderr, /give --headers too, or --reset what you no longer need/)
})
