import t from 'tap'
import { newIdempotencyKey } from '../../../../api-gateway/client/src/http/transport.ts'
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

t.test('call waits for Retry-After of a rate limit', async (t) => {
  const { transport, delays } = aTransport([failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '31' }), json({})])
  await transport.call({ ...post, idempotencyKey: 'one' })
  t.strictSame(delays, [31_500])
})

t.test('call does not repeat a POST without an Idempotency-Key, except after 429', async (t) => {
  const cut = aTransport([hangUp()])
  await t.rejects(cut.transport.call(post), { code: 'CONNECTION_FAILED' })
  t.equal(cut.sent.length, 1)
  const limited = aTransport([failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '1' }), json({})])
  await limited.transport.call(post)
  t.equal(limited.sent.length, 2)
})

t.test('call does not repeat requests that are wrong, or that a spent quota refuses', async (t) => {
  for (const [status, code] of [
    [400, 'VALIDATION_ERROR'],
    [401, 'INVALID_API_KEY'],
    [404, 'NOT_FOUND'],
    [429, 'USAGE_LIMIT_REACHED'],
  ] as const) {
    const { transport, sent } = aTransport([failure(status, code)])
    await t.rejects(transport.call(get), { code, status })
    t.equal(sent.length, 1, code)
  }
})

t.test('an error has the code, the details, the request id, and says what to do', async (t) => {
  const details = { limit: 100, used: 100 }
  const { transport } = aTransport([failure(429, 'USAGE_LIMIT_REACHED', { 'x-request-id': 'header-id' }, details)])
  await t.rejects(transport.call(get), {
    message: 'it is USAGE_LIMIT_REACHED. Wait until error.details.reset_at, or ask an administrator of this service for a larger plan.',
    details,
    requestId: 'header-id',
  })
  await t.rejects(aTransport([failure(404, 'NOT_FOUND')]).transport.call(get), {
    requestId: 'body-id',
    message: 'it is NOT_FOUND. Check the id and the path.',
  })
  await t.rejects(aTransport([failure(400, 'NEW_CODE')]).transport.call(get), { code: 'NEW_CODE', message: 'it is NEW_CODE' })
})

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

t.test('an error lists the problems of a request, and none if it has other details', async (t) => {
  const problem = { path: 'options.delay', code: 'too_small', message: 'options.delay must be at least 0' }
  const errorOf = (reply: Response) =>
    aTransport([reply])
      .transport.call(get)
      .catch((error: unknown) => error)
  t.match(await errorOf(failure(400, 'VALIDATION_ERROR', {}, [problem])), { problems: [problem] })
  t.match(await errorOf(failure(409, 'LIMIT_REACHED', {}, { limit: 5 })), { problems: [], details: { limit: 5 } })
})

t.test('a response that does not come from Tintype is an error with that reason', async (t) => {
  const html = aTransport([new Response('<html>', { status: 404 })])
  await t.rejects(html.transport.call(get), { code: 'INVALID_RESPONSE', status: 404, message: /404 and does not come from Tintype/ })
  const fine = aTransport([new Response('<html>')])
  await t.rejects(fine.transport.call(get), { code: 'INVALID_RESPONSE', message: /^the response is not JSON/ })
  t.equal(fine.sent.length, 1)
  for (const body of ['null', '[]', '{"error":"x"}']) {
    await t.rejects(aTransport([new Response(body, { status: 400 })]).transport.call(get), { code: 'INVALID_RESPONSE' }, body)
  }
})

t.test('call follows no redirect, which would turn a POST into a GET', async (t) => {
  const { transport } = aTransport([new Response(null, { status: 301, headers: { location: 'https://other.example.com/' } })])
  await t.rejects(transport.call(get), {
    code: 'INVALID_CONFIGURATION',
    message: 'the service redirects to https://other.example.com/. Set baseUrl to the final URL of the service.',
  })
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

t.test('newIdempotencyKey is random, and fits into the header', async (t) => {
  t.match(newIdempotencyKey(), /^[0-9a-f]{32}$/)
  t.not(newIdempotencyKey(), newIdempotencyKey())
})
