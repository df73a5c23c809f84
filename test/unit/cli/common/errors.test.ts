import t from 'tap'
import { nearest } from '../../../../api-gateway/cli/src/common/errors.ts'
import { aService, failing, type Route } from '../fake-world.ts'

// Errors of the client speak to programmers. These tests hold that the program says the same to a person at a terminal.

const pending = { id: 'scr_1', url: 'https://example.com', status: 'pending', started_at: null, created_at: '2026-11-24T12:00:00.000Z' }

const [USAGE, CAPTURE] = ['GET /usage/current', 'POST /screenshots'] as const
const noJson: Route = (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
const redirect: Route = (_, response) => response.writeHead(301, { location: 'https://tintype.example.com/' }).end()
const tooLong = [{ path: 'options.delay', code: 'too_big', message: 'options.delay must be at most 60000' }]
const hidden = 'the hidden options are stored as one encrypted text: give options.headers too, or null for what you no longer need'

/** Commands, with the response of a route, the exit code and the line that follows. */
const cases: [words: string, route: string, response: Route, code: number, message: string][] = [
  ['usage', USAGE, noJson, 3, 'SERVICE does not respond like Tintype (HTTP 404). Run `tintype doctor` to find the cause.'],
  [
    'usage',
    USAGE,
    redirect,
    3,
    'the service redirects to https://tintype.example.com/. Set the URL of the service to the final URL of the service.',
  ],
  [
    'usage',
    USAGE,
    failing(401, 'INVALID_API_KEY', 'the API key is not valid'),
    3,
    'SERVICE refuses the API key: it is unknown, inactive, expired or deleted. Set another one in TINTYPE_API_KEY, or with `tintype config set URL -`.',
  ],
  [
    'usage',
    USAGE,
    failing(403, 'INSUFFICIENT_SCOPE', 'the API key lacks the scope usage:read'),
    3,
    'the API key lacks the scope usage:read. Use an API key that has this scope.',
  ],
  // A text that would control the terminal.
  [
    'usage',
    USAGE,
    failing(404, 'NOT_FOUND', 'no \u{1b}[2J screenshot\nat all'),
    1,
    'no \u{fffd}[2J screenshot\u{fffd}at all. Check the id and the path.',
  ],
  [
    'shot example.com --wait-timeout 1',
    CAPTURE,
    pending,
    1,
    'the capture of scr_1 has not ended yet. Run `tintype watch scr_1` to keep waiting, or raise --wait-timeout.',
  ],
  ['shot example.com --delay 70000', CAPTURE, failing(400, 'VALIDATION_ERROR', 'x', tooLong), 2, '--delay must be at most 60000'],
  [
    'shot example.com --async',
    CAPTURE,
    failing(429, 'USAGE_LIMIT_REACHED', 'the usage limit was reached', { reset_at: '2026-12-01T00:00:00.000Z' }),
    1,
    'the usage limit was reached. Wait until 2026-12-01 00:00 UTC, or ask an administrator of this service for a larger plan.',
  ],
  [
    'schedules update sch_1 --cookies a=b',
    'PATCH /schedules/sch_1',
    failing(400, 'VALIDATION_ERROR', hidden, [{ path: 'options.cookies', code: 'contradiction', message: hidden }]),
    2,
    'the hidden options are stored as one encrypted text: give --headers too, or --reset what you no longer need',
  ],
]
for (const [words, route, response, code, message] of cases) {
  t.test(`an error is one line for a person: ${message}`, async (t) => {
    const { run, url } = await aService(t, { 'GET /screenshots/scr_1': pending, [route]: response })
    const { stderr, ...result } = await run(words)
    t.strictSame([result.code, stderr.replaceAll(url, 'SERVICE')], [code, `tintype: ${message}\n`])
  })
}

t.test('an error line explains a refused connection', async (t) => {
  const { run, url, stop } = await aService(t, {})
  stop()
  const message = new RegExp(`^tintype: cannot reach ${url}: nothing accepts connections at .*\\. Check the port, .*\\.\n$`)
  t.match(await run('usage'), { code: 3, stderr: message })
})

t.test('nearest finds mistyped and shortened names', async (t) => {
  const names = ['full-page', 'viewport-width', 'clip-width', 'format']
  t.equal(nearest('fullpage', names), 'full-page')
  t.equal(nearest('fromat', names), 'format')
  t.equal(nearest('width', names), 'viewport-width')
  t.equal(nearest('zzz', names), undefined)
})
