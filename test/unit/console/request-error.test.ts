import t from 'tap'
import { RESPONSE_REMEDIES } from '../../../api-gateway/client/src/generated/remedies.ts'
import { describeFailure, RequestError } from '../../../api-gateway/console/src/api/client.ts'

t.test('problems of the API have the names of the fields of the form', async (t) => {
  const problem = (name: string) => ({
    path: `options.${name}`,
    code: 'too_big',
    message: `options.${name} must be at most 5: see options.`,
  })
  const one = new RequestError(400, {
    code: 'VALIDATION_ERROR',
    message: 'options.retries must be at most 5',
    details: [problem('retries')],
  })
  t.match(one.problems, [{ path: 'retries', message: 'retries must be at most 5: see options.' }])
  t.equal(one.message, 'retries must be at most 5: see options.')
  const two = new RequestError(400, {
    code: 'VALIDATION_ERROR',
    message: 'the request has 2 problems',
    details: [problem('a'), problem('b')],
  })
  t.equal(two.message, 'the request has 2 problems')
  t.strictSame(
    two.problems.map(({ path }) => path),
    ['a', 'b'],
  )
  t.strictSame(new RequestError(503, { code: 'X', message: 'y', details: { retry_after: 1 } }).problems, [])
})

t.test('an error says what people do, not which header a program reads', async (t) => {
  const messageOf = (code: string, message: string, more: object = {}, seconds?: number) =>
    new RequestError(503, { code, message, ...more }, seconds).message
  t.equal(messageOf('SERVICE_UNAVAILABLE', 'the store does not respond', {}, 2), 'the store does not respond. Try again in 2 seconds.')
  t.equal(messageOf('SERVICE_UNAVAILABLE', 'the store does not respond'), 'the store does not respond. Try again in a moment.')
  t.equal(messageOf('QUEUE_FULL', 'the queue is full', {}, 1), 'the queue is full. Try again in 1 second.')
  const limit = 'Rate limit is 40 requests per minute. Retry in 3 seconds.'
  t.equal(messageOf('RATE_LIMIT_EXCEEDED', limit, { details: { retry_after: 3 } }), limit)
  t.equal(
    messageOf('USAGE_LIMIT_REACHED', 'the usage limit was reached', { details: { reset_at: '2026-12-01T00:00:00.000Z' } }),
    'the usage limit was reached. Wait until 2026-12-01 00:00 UTC, or ask an administrator of this service for a larger plan.',
  )
})

t.test('no remedy that people see names a header, a field of the response or a method', async (t) => {
  for (const code of Object.keys(RESPONSE_REMEDIES)) {
    // Requests that neither the console nor the command line sends.
    if (['METHOD_NOT_ALLOWED', 'UNSUPPORTED_MEDIA_TYPE', 'IDEMPOTENCY_KEY_REUSED', 'LINK_INVALID', 'CAPTURE_FAILED'].includes(code))
      continue
    t.notMatch(
      new RequestError(400, { code, message: 'x' }).message,
      /Retry-After|WWW-Authenticate|Authorization:|error\.|GET \/|ETag|force: true/,
      code,
    )
  }
})

t.test('a failed capture names options as the form does', async (t) => {
  const message = describeFailure({ code: 'TIMEOUT', message: 'the page has not loaded within 30000 ms (options.timeout)' })
  t.match(message, /^TIMEOUT: the page has not loaded within 30000 ms \(timeout\)\. Raise timeout, /)
  t.notMatch(message, 'options.')
})
