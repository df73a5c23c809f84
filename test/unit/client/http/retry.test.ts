import t from 'tap'
import { TintypeError, type TintypeErrorFields } from '../../../../api-gateway/client/src/common/errors.ts'
import { parseRetryAfter } from '../../../../api-gateway/client/src/http/response-error.ts'
import { DELAY_BUDGET_MILLISECONDS, isRetryable, realTiming, retry, retryDelay } from '../../../../api-gateway/client/src/http/retry.ts'

const error = (fields: TintypeErrorFields) => new TintypeError('x', fields)

t.test('isRetryable repeats what may pass, and never a spent quota', async (t) => {
  for (const status of [429, 500, 502, 503, 504]) t.ok(isRetryable(error({ code: 'X', status }), 'repeatable'), String(status))
  for (const status of [400, 401, 403, 404, 409, 410, 413, 422, 501])
    t.notOk(isRetryable(error({ code: 'X', status }), 'repeatable'), String(status))
  for (const code of ['CONNECTION_FAILED', 'REQUEST_TIMEOUT']) t.ok(isRetryable(error({ code }), 'repeatable'), code)
  t.ok(isRetryable(error({ code: 'IDEMPOTENCY_IN_PROGRESS', status: 409 }), 'repeatable'))
  t.notOk(isRetryable(error({ code: 'USAGE_LIMIT_REACHED', status: 429 }), 'repeatable'))
  t.notOk(isRetryable(new Error('a bug'), 'repeatable'))
})

t.test('retryDelay doubles up to 16 seconds, with half of it random', async (t) => {
  const range = (number: number) => [retryDelay(number, undefined, () => 0), retryDelay(number, undefined, () => 1)]
  t.strictSame([1, 2, 3, 6, 7, 50].map(range), [
    [250, 500],
    [500, 1_000],
    [1_000, 2_000],
    [8_000, 16_000],
    [8_000, 16_000],
    [8_000, 16_000],
  ])
})

t.test('retryDelay is never shorter than Retry-After', async (t) => {
  t.equal(
    retryDelay(1, 3, () => 0),
    3_000,
  )
  t.equal(
    retryDelay(1, 3, () => 1),
    4_000,
  )
  t.equal(
    retryDelay(5, 0, () => 0),
    4_000,
    'backoff also applies',
  )
})

t.test('retry stops when its delays exceed the budget', async (t) => {
  const delays: number[] = []
  const timing = { ...realTiming, random: () => 0, sleep: async (delay: number) => void delays.push(delay) }
  const fail = () => Promise.reject(error({ code: 'RATE_LIMIT_EXCEEDED', status: 429, retryAfterSeconds: 50 }))
  await t.rejects(retry(fail, { retries: 50, repetition: 'repeatable', timing }), { code: 'RATE_LIMIT_EXCEEDED' })
  t.strictSame(delays, [50_000, 50_000])
  t.equal(DELAY_BUDGET_MILLISECONDS, 120_000)
})

t.test('the sleep of a retry ends with the signal, and leaves no listener behind', async (t) => {
  const { signal } = new AbortController()
  let listeners = 0
  t.intercept(signal, 'addEventListener', { value: () => (listeners += 1) })
  t.intercept(signal, 'removeEventListener', { value: () => (listeners -= 1) })
  await realTiming.sleep(1, signal)
  t.equal(listeners, 0)
  const controller = new AbortController()
  const slept = realTiming.sleep(60_000, controller.signal)
  controller.abort(new Error('enough'))
  await t.rejects(slept, { message: 'enough' })
  await t.rejects(realTiming.sleep(60_000, AbortSignal.abort(new Error('before'))), { message: 'before' })
})

t.test('parseRetryAfter reads seconds and dates', async (t) => {
  const now = () => Date.parse('2026-11-24T10:00:00Z')
  t.equal(parseRetryAfter('7'), 7)
  t.equal(parseRetryAfter('Tue, 24 Nov 2026 10:00:09 GMT', now), 9)
  t.equal(parseRetryAfter('Tue, 24 Nov 2026 09:00:00 GMT', now), 0)
  t.equal(parseRetryAfter('soon'), undefined)
  t.equal(parseRetryAfter(null), undefined)
})
