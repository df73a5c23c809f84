import t from 'tap'
import { buildMetrics } from '../../../../../api-gateway/src/metrics/metrics.ts'
import { ERROR_IMAGES } from '../../../../../api-gateway/src/resources/take/generated/error-images.ts'
import { HTTP_ERRORS, JOB_ERRORS } from '../../../../../crds/src/schema/errors.ts'
import { assertEvery } from '../../../../support/accepts.ts'
import { aTakeGateway, PAGE, PICTURE } from './take-gateway.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

t.test('GET /take redirects to itself while the capture runs, and gives up after 100 seconds', async (t) => {
  const gateway = aTakeGateway()
  // Held requests end when the gateway shuts down, so the test need not wait.
  gateway.draining.abort()
  const link = `${gateway.sign(PAGE)}&utm_source=a+b%20c`
  const response = await gateway.get(link)
  t.match(response, { statusCode: 307, headers: { location: `?${link}`, 'cache-control': 'no-store' } })
  const base = 'https://shots.example/v1/take'
  t.equal(new URL(String(response.headers.location), base).href, `${base}?${link}`, 'relative to the link, it is the same URL')
  gateway.later(99)
  t.equal((await gateway.get(link)).statusCode, 307)
  gateway.later(2)
  const last = await gateway.get(link)
  t.match({ status: last.statusCode, body: last.json() }, { status: 504, body: { error: { code: 'CAPTURE_TIMEOUT' } } })
  t.equal(gateway.screenshots.objects.size, 1)
})

t.test('GET /take serves a stale picture at once, and captures the page once in the background', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(`${PAGE}&cache_ttl=60`)
  await gateway.capture(link)
  gateway.later(61)
  for (let n = 0; n < 3; n++) {
    const response = await gateway.get(link)
    t.match(response, { statusCode: 200, headers: { age: '61', 'cache-control': 'public, max-age=60, stale-while-revalidate=86400' } })
    t.strictSame(response.rawPayload, PICTURE)
  }
  gateway.complete(await gateway.created(2))
  gateway.later(3)
  t.equal((await gateway.get(link)).headers.age, '3')
  t.equal(gateway.screenshots.objects.size, 2)
})

t.test('GET /take serves the stale picture without quota', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(PAGE)
  await gateway.capture(link)
  gateway.later(86_401)
  gateway.quota.set('acme', { limit: 0 })
  for (let n = 0; n < 3; n++) t.equal((await gateway.get(link)).statusCode, 200)
  t.equal(gateway.screenshots.objects.size, 1)
  const other = await gateway.get(gateway.sign('url=https%3A%2F%2Fexample.com%2Fother'))
  t.match(
    { status: other.statusCode, body: other.json() },
    { status: 429, body: { error: { code: 'USAGE_LIMIT_REACHED', details: undefined } } },
  )
  t.notOk('x-quota-limit' in other.headers, 'visitors do not see the quota')
  const own = await gateway.get('url=https%3A%2F%2Fexample.com%2Fother', { headers: gateway.headers })
  t.match(own.json(), { error: { code: 'USAGE_LIMIT_REACHED', details: { limit: 0 } } })
})

t.test('GET /take refuses captures above the rate, and does not show visitors the rate', async (t) => {
  const gateway = aTakeGateway()
  gateway.quota.set('acme', { limit: 100, ratePerMinute: 1 })
  await gateway.capture(gateway.sign(PAGE))
  const refused = await gateway.get(gateway.sign('url=https%3A%2F%2Fexample.com%2Fother'))
  t.match(refused, { statusCode: 429, headers: { 'retry-after': /^\d+$/, 'x-ratelimit-limit': undefined } })
  t.notOk('details' in refused.json().error)
  t.equal((await gateway.get(gateway.sign(PAGE))).statusCode, 200)
  t.equal(gateway.objects.objects.size, 2, 'the cache entry and the shared capture of the first page')
})

t.test('GET /take with on_error=image responds to errors with a picture of the code', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(`${PAGE}&on_error=image`)
  const pending = gateway.get(link)
  gateway.fail(await gateway.created())
  const failed = await pending
  t.match(failed, { statusCode: 422, headers: { 'content-type': 'image/png', 'cache-control': 'no-store' } })
  t.strictSame(failed.rawPayload, Buffer.from(ERROR_IMAGES.TIMEOUT ?? '', 'base64'))
  const invalid = await gateway.get(`${link}&viewport_widht=1`)
  t.match(invalid, { statusCode: 400, headers: { 'content-type': 'image/png' } })
  t.strictSame(invalid.rawPayload, Buffer.from(ERROR_IMAGES.VALIDATION_ERROR ?? '', 'base64'))
  const head = await gateway.get(link, { method: 'HEAD' })
  t.match(head, { statusCode: 422, payload: '', headers: { 'content-type': 'image/png' } })
  t.equal((await gateway.get(gateway.sign(`${PAGE}&on_error=html`))).json().error.details[0].path, 'on_error')
})

t.test('every error code has a picture', async (t) => {
  const codes = Object.keys({ ...HTTP_ERRORS, ...JOB_ERRORS })
  assertEvery(t, codes, (code) => Buffer.from(ERROR_IMAGES[code] ?? '', 'base64').indexOf(PNG) === 0)
})

t.test('GET /take counts the captures that it starts, not the requests for them', async (t) => {
  const metrics = buildMetrics()
  const gateway = aTakeGateway({ metrics })
  const counts = async () => {
    const { values } = await metrics.linkCaptures.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }
  t.strictSame(await counts(), { completed: 0, failed: 0 })
  await gateway.capture(gateway.sign(PAGE))
  const broken = gateway.sign('url=https%3A%2F%2Fbroken.example')
  const pending = [gateway.get(broken), gateway.get(broken)]
  gateway.fail(await gateway.created(2))
  await Promise.all(pending)
  gateway.later(59)
  for (let count = 0; count < 3; count++) {
    const refused = await gateway.get(broken)
    t.match(refused, { statusCode: 422, headers: { 'cache-control': 'no-store' } }, 'failures are remembered')
    t.match(refused.json(), { error: { code: 'CAPTURE_FAILED', details: { code: 'TIMEOUT' } } })
  }
  t.strictSame(await counts(), { completed: 1, failed: 1 })
  const slow = gateway.get(gateway.sign('url=https%3A%2F%2Fslow.example'))
  const screenshot = await gateway.created(3)
  gateway.draining.abort()
  t.equal((await slow).statusCode, 307)
  gateway.complete(screenshot)
  t.strictSame(await counts(), { completed: 1, failed: 1 }, 'not counted by a gateway that has stopped')
})
