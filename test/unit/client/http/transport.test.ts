import t from 'tap'
import { aTransport, failure, hangUp, json, never } from '../fake-service.ts'

const get = { method: 'GET', path: '/usage/current' } as const
const post = { method: 'POST', path: '/screenshots', body: { url: 'https://example.com/' } } as const

t.test('call sends the key, the body and the query, and returns the JSON', async (t) => {
  const { transport, sent } = aTransport([json({ a: 1 }, { headers: { 'x-queue-position': '3' } })])
  const { body, status, headers } = await transport.call({
    ...post,
    query: { wait: 25, status: ['a', 'b'], none: undefined },
    idempotencyKey: 'one',
  })
  t.strictSame([body, status, headers.get('x-queue-position')], [{ a: 1 }, 200, '3'])
  t.match(sent, [
    {
      method: 'POST',
      url: 'https://tintype.example.com/api/v1/screenshots?wait=25&status=a%2Cb',
      headers: { authorization: 'Bearer tt_key', 'content-type': 'application/json', 'idempotency-key': 'one', accept: 'application/json' },
      body: { url: 'https://example.com/' },
      redirect: 'manual',
    },
  ])
})

t.test('call sends no Authorization without a key, and no Content-Type without a body', async (t) => {
  const { transport, sent } = aTransport([json({})], { apiKey: null })
  t.strictSame((await transport.call(get)).body, {})
  t.strictSame(Object.keys(sent[0]?.headers ?? {}), ['accept'])
})

t.test('call returns no body for 204', async (t) => {
  const { transport } = aTransport([new Response(null, { status: 204 })])
  t.equal((await transport.call({ method: 'DELETE', path: '/keys/1' })).body, undefined)
})

t.test('call repeats after errors of the network and of the service', async (t) => {
  const bad = [
    hangUp(),
    failure(500, 'INTERNAL_ERROR'),
    new Response('<html>', { status: 502 }),
    failure(503, 'QUEUE_FULL', { 'retry-after': '2' }),
  ]
  const { transport, sent, delays } = aTransport([...bad, json({ ok: true })])
  t.strictSame((await transport.call({ ...post, idempotencyKey: 'one' })).body, { ok: true })
  t.equal(sent.length, 5)
  t.strictSame(delays, [375, 750, 1_500, 3_000])
  t.strictSame(new Set(sent.map(({ headers }) => headers['idempotency-key'])), new Set(['one']), 'the same key each time')
  t.strictSame(new Set(sent.map(({ body }) => JSON.stringify(body))).size, 1, 'and the same body')
})

t.test('call gives up after its retries, and throws the last error', async (t) => {
  const { transport, sent } = aTransport([hangUp(), failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '2' })], { retries: 2 })
  await t.rejects(transport.call(get), { name: 'TintypeError', code: 'SERVICE_UNAVAILABLE', status: 503, retryAfterSeconds: 2 })
  t.equal(sent.length, 3)
})

t.test('call does not repeat a POST without an Idempotency-Key, except after 429', async (t) => {
  const cut = aTransport([hangUp()])
  await t.rejects(cut.transport.call(post), { code: 'CONNECTION_FAILED' })
  t.equal(cut.sent.length, 1)
  const limited = aTransport([failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '1' }), json({})])
  await limited.transport.call(post)
  t.equal(limited.sent.length, 2)
})

const html = (status?: number) => new Response('<html>', { ...(status && { status }) })
const details = { limit: 100, used: 100 }
const problem = { path: 'options.delay', code: 'too_small', message: 'options.delay must be at least 0' }
const moved = new Response(null, { status: 301, headers: { location: 'https://other.example.com/' } })

/** Responses that end a call at once, and the error that it throws. */
const errors: [what: string, reply: Response, error: object][] = [
  [
    'a wrong id, with the request id of the body',
    failure(404, 'NOT_FOUND'),
    { code: 'NOT_FOUND', status: 404, requestId: 'body-id', message: 'it is NOT_FOUND. Check the id and the path.' },
  ],
  [
    'a spent quota, with its details, the request id of the header, and what to do',
    failure(429, 'USAGE_LIMIT_REACHED', { 'x-request-id': 'header-id' }, details),
    {
      ...{ code: 'USAGE_LIMIT_REACHED', status: 429, details, requestId: 'header-id' },
      message: 'it is USAGE_LIMIT_REACHED. Wait until error.details.reset_at, or ask an administrator of this service for a larger plan.',
    },
  ],
  ['a code that the client does not know', failure(400, 'NEW_CODE'), { code: 'NEW_CODE', message: 'it is NEW_CODE' }],
  ['problems of a request', failure(400, 'VALIDATION_ERROR', {}, [problem]), { problems: [problem] }],
  ['details that are no problems', failure(409, 'LIMIT_REACHED', {}, { limit: 5 }), { problems: [], details: { limit: 5 } }],
  ['a page of a proxy', html(404), { code: 'INVALID_RESPONSE', status: 404, message: /404 and does not come from Tintype/ }],
  ['a page with the status 200', html(), { code: 'INVALID_RESPONSE', message: /^the response is not JSON/ }],
  ['an error that is null', new Response('null', { status: 400 }), { code: 'INVALID_RESPONSE' }],
  ['an error that is a list', new Response('[]', { status: 400 }), { code: 'INVALID_RESPONSE' }],
  ['an error without a code', new Response('{"error":"x"}', { status: 400 }), { code: 'INVALID_RESPONSE' }],
  [
    'a redirect, which would turn a POST into a GET',
    moved,
    {
      code: 'INVALID_CONFIGURATION',
      message: 'the service redirects to https://other.example.com/. Set baseUrl to the final URL of the service.',
    },
  ],
]
for (const [what, reply, error] of errors) {
  t.test(`call does not repeat, and explains, ${what}`, async (t) => {
    const { transport, sent } = aTransport([reply])
    await t.rejects(transport.call(get), { name: 'TintypeError', ...error })
    t.equal(sent.length, 1)
  })
}

t.test('an error names the problems of a request', async (t) => {
  const problems = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ path, code: 'too_big', message: `${path} must be at most 1` }))
  const message = async (count: number) => {
    const { transport } = aTransport([failure(400, 'VALIDATION_ERROR', {}, problems.slice(0, count))])
    return transport.call(get).then(
      () => '',
      (error: Error) => error.message,
    )
  }
  t.equal(await message(1), 'a must be at most 1')
  t.equal(await message(2), 'it is VALIDATION_ERROR: a must be at most 1; b must be at most 1')
  t.equal(
    await message(5),
    'it is VALIDATION_ERROR: a must be at most 1; b must be at most 1; c must be at most 1; and 2 more, see details',
  )
})

t.test('a failed connection names its cause', async (t) => {
  await t.rejects(aTransport([hangUp()], { retries: 0 }).transport.call(get), {
    message: 'the connection failed: socket hang up. Check baseUrl and that the service is reachable.',
    cause: { message: 'fetch failed' },
  })
})

t.test('a signal ends a request, with its own reason', async (t) => {
  const { transport, sent } = aTransport([never])
  const controller = new AbortController()
  const called = transport.call({ ...get, signal: controller.signal })
  controller.abort(new Error('enough'))
  await t.rejects(called, { message: 'enough' })
  t.equal(sent.length, 1, 'and is not repeated')
  t.ok(sent[0]?.signal.aborted)
  await t.rejects(transport.call({ ...get, signal: AbortSignal.abort() }), { name: 'AbortError' })
})

t.test('a signal ends the delay before a retry', async (t) => {
  const { transport, sent } = aTransport([hangUp()])
  const controller = new AbortController()
  transport.timing.sleep = async (_, signal) => {
    controller.abort(new Error('enough'))
    signal?.throwIfAborted()
  }
  await t.rejects(transport.call({ ...get, signal: controller.signal }), { message: 'enough' })
  t.equal(sent.length, 1)
})

t.test('a request without a response ends after the timeout, and is repeated', async (t) => {
  const { transport, sent } = aTransport([never, json({ ok: true })], { timeout: 20 })
  t.strictSame((await transport.call(get)).body, { ok: true })
  t.equal(sent.length, 2)
  await t.rejects(aTransport([never], { timeout: 20, retries: 0 }).transport.call(get), {
    code: 'REQUEST_TIMEOUT',
    message: 'no response within 0.02 seconds. Check the connection, or raise timeout.',
  })
})

t.test('the timeout also counts while the body is read', async (t) => {
  const stalled = ({ signal }: { signal: AbortSignal }) => {
    const body = new ReadableStream({ start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)) })
    return new Response(body)
  }
  await t.rejects(aTransport([stalled], { timeout: 20, retries: 0 }).transport.call(get), { code: 'REQUEST_TIMEOUT' })
})
