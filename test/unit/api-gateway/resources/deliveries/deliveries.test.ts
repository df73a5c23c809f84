import t from 'tap'
import { newId, webhookIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { eventKey, logKey, logPrefix, missedKey } from '../../../../../crds/src/records/storage-keys.ts'
import { type AttemptLine, toLogText } from '../../../../../crds/src/webhooks/delivery-log.ts'
import { openPrefixOf } from '../../../../../crds/src/webhooks/undelivered.ts'
import { aGateway, aScreenshot, NOW, SCREENSHOT_ID } from '../../fakes.ts'

type Gateway = ReturnType<typeof aGateway>

const secondsAgo = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000)
const deliveryId = (n: number): string => newId('dlv', NOW, Buffer.alloc(10, n))
const aLine = (changes: Partial<AttemptLine> = {}): AttemptLine => ({
  delivery: deliveryId(1),
  event: 'evt_1',
  type: 'screenshot.completed',
  screenshot: SCREENSHOT_ID,
  attempt: 1,
  at: secondsAgo(60).toISOString(),
  milliseconds: 12,
  statusCode: 200,
  outcome: 'success',
  answer: 'thanks',
  ...changes,
})

/** A gateway with one webhook and the lines of its log. */
async function aLoggedGateway(lines: AttemptLine[] = [aLine()], isActive = true) {
  const gateway = aGateway()
  const ask = askOf(gateway)
  const body = { name: 'orders', url: 'https://hooks.example.com/in', events: ['screenshot.completed'], is_active: isActive }
  const { id } = (await ask('POST', '/webhooks', body)).body.data
  gateway.objects.objects.set(logKey(logPrefix('acme', id), NOW, lines.length, 'abc'), toLogText(lines))
  return { ...gateway, ask, id, path: `/webhooks/${id}/deliveries` }
}

const askOf =
  ({ app, headers }: Gateway) =>
  async (method: 'GET' | 'POST', url: string, payload?: object) => {
    const response = await app.inject({ method, url: `/v1${url}`, headers, ...(payload ? { payload } : {}) })
    return { status: response.statusCode, headers: response.headers, body: response.json() }
  }

t.test('GET /webhooks/:id/deliveries puts the attempts of a delivery together', async (t) => {
  const failed = {
    statusCode: 503,
    outcome: 'answered',
    detail: 'the endpoint answered 503',
    at: secondsAgo(70).toISOString(),
    answer: 'no',
  }
  const { ask, path } = await aLoggedGateway([aLine({ attempt: 2 }), aLine(failed)])
  const { status, body } = await ask('GET', path)
  t.equal(status, 200)
  t.strictSame(body, {
    success: true,
    data: [
      {
        id: deliveryId(1),
        event_id: 'evt_1',
        event_type: 'screenshot.completed',
        screenshot_id: SCREENSHOT_ID,
        status: 'successful',
        attempt_count: 2,
        first_attempt_at: secondsAgo(70).toISOString(),
        last_attempt_at: secondsAgo(60).toISOString(),
        last_status_code: 200,
        attempts: [
          {
            number: 1,
            manual: false,
            at: secondsAgo(70).toISOString(),
            duration_ms: 12,
            status_code: 503,
            error: 'answered',
            error_message: 'the endpoint answered 503',
            response_body: 'no',
          },
          {
            number: 2,
            manual: false,
            at: secondsAgo(60).toISOString(),
            duration_ms: 12,
            status_code: 200,
            error: null,
            error_message: null,
            response_body: 'thanks',
          },
        ],
      },
    ],
    pagination: { limit: 100, has_more: false, next_cursor: null },
  })
})

t.test('GET /webhooks/:id/deliveries shows no attempt where a delivery was only given up', async (t) => {
  const failed = aLine({ statusCode: 500, outcome: 'answered' })
  const withdrawn = aLine({ statusCode: 0, outcome: 'withdrawn', last: true, at: secondsAgo(1).toISOString() })
  const { ask, path } = await aLoggedGateway([withdrawn, failed])
  t.match((await ask('GET', path)).body.data, [{ status: 'failed', attempt_count: 1, attempts: { length: 1 }, last_status_code: 500 }])
})

t.test('GET /webhooks/:id/deliveries walks all pages and gives each delivery once', async (t) => {
  const lines = Array.from({ length: 7 }, (_, n) => aLine({ delivery: deliveryId(n), at: secondsAgo(Math.floor(n / 2)).toISOString() }))
  const { ask, path } = await aLoggedGateway(lines)
  const seen: string[] = []
  for (let query: string | null = '?limit=3'; query !== null; ) {
    const { body } = await ask('GET', path + query)
    const { data, pagination } = body as { data: { id: string }[]; pagination: { has_more: boolean; next_cursor: string } }
    seen.push(...data.map(({ id }) => id))
    query = pagination.has_more ? `?limit=3&cursor=${pagination.next_cursor}` : null
  }
  t.strictSame(seen.toSorted(), lines.map(({ delivery }) => delivery).sort())
  t.strictSame([seen.slice(0, 2).toSorted(), seen.at(-1)], [[deliveryId(0), deliveryId(1)], deliveryId(6)])
})

t.test('GET /webhooks/:id/deliveries picks by status', async (t) => {
  const { ask, path, screenshots } = await aLoggedGateway([
    aLine(),
    aLine({ delivery: deliveryId(2), outcome: 'timeout', statusCode: 0 }),
    aLine({ delivery: deliveryId(3), outcome: 'timeout', statusCode: 0, last: true }),
  ])
  screenshots.put(aScreenshot({}))
  const idsOf = async (status: string) => (await ask('GET', `${path}?status=${status}`)).body.data.map(({ id }: { id: string }) => id)
  t.strictSame(await idsOf('successful'), [deliveryId(1)])
  t.strictSame(await idsOf('pending'), [deliveryId(2)])
  t.strictSame((await idsOf('failed,pending')).sort(), [deliveryId(2), deliveryId(3)].sort())
})

for (const query of ['limit=0', 'cursor=abc', 'status=odd', 'status=failed&status=pending', 'offset=3']) {
  t.test(`GET /webhooks/:id/deliveries refuses ${query}`, async (t) => {
    const { ask, path } = await aLoggedGateway()
    t.match(await ask('GET', `${path}?${query}`), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  })
}

t.test('deliveries of another account, and unknown ones, are not found', async (t) => {
  const { ask, path, webhooks } = await aLoggedGateway()
  t.equal((await ask('GET', `${path}/${deliveryId(1)}`)).status, 200)
  t.equal((await ask('GET', `${path}/${deliveryId(2)}`)).status, 404)
  t.equal((await ask('POST', `${path}/${deliveryId(2)}/redeliver`)).status, 404)
  webhooks.objects[0]!.spec.accountName = 'other'
  for (const url of [path, `${path}/${deliveryId(1)}`]) t.equal((await ask('GET', url)).status, 404, url)
  t.equal((await ask('POST', `${path}/${deliveryId(1)}/redeliver`)).status, 404)
})

t.test('POST …/redeliver requests the post from the operator and responds at once', async (t) => {
  const { ask, path, screenshots, postRequests, id } = await aLoggedGateway()
  screenshots.put(aScreenshot({}))
  const { status, body } = await ask('POST', `${path}/${deliveryId(1)}/redeliver`)
  t.equal(status, 202)
  t.match(body, { success: true, message: String, data: { delivery_id: deliveryId(1), event_id: 'evt_1' } })
  t.strictSame(postRequests.posts, [{ webhook: id.replace('_', '-'), post: { do: 'redeliver', delivery: deliveryId(1) } }])
})

t.test('POST …/redeliver responds with 410 when the event has expired', async (t) => {
  const { ask, path, objects, postRequests } = await aLoggedGateway()
  t.match(await ask('POST', `${path}/${deliveryId(1)}/redeliver`), { status: 410, body: { error: { code: 'EXPIRED' } } })
  objects.objects.set(eventKey('evt_1'), '{}')
  t.equal((await ask('POST', `${path}/${deliveryId(1)}/redeliver`)).status, 202)
  t.equal(postRequests.posts.length, 1)
})

t.test('POST …/redeliver is rejected while the webhook is inactive', async (t) => {
  const { ask, path, screenshots, postRequests } = await aLoggedGateway([aLine()], false)
  screenshots.put(aScreenshot({}))
  t.match(await ask('POST', `${path}/${deliveryId(1)}/redeliver`), { status: 409, body: { error: { code: 'CONFLICT' } } })
  t.strictSame(postRequests.posts, [])
})

t.test('POST /webhooks/:id/test responds with 200 and the endpoint’s response', async (t) => {
  const { ask, id, postRequests } = await aLoggedGateway()
  const response = { time: NOW.toISOString(), success: true, statusCode: 204, responseMilliseconds: 38 }
  postRequests.response = response
  t.strictSame((await ask('POST', `/webhooks/${id}/test`)).body, {
    success: true,
    message: 'The endpoint accepted the test event',
    status_code: 204,
    response_time_ms: 38,
    error: null,
    timestamp: NOW.toISOString(),
  })
  postRequests.response = { ...response, success: false, statusCode: 0, error: 'no answer in time' }
  t.match(await ask('POST', `/webhooks/${id}/test`), { status: 200, body: { success: false, status_code: 0, error: 'no answer in time' } })
  t.strictSame(postRequests.posts[0]?.post, { do: 'test' })
})

t.test('POST /webhooks/:id/test responds with 503 without an operator, and with 404 for foreign webhooks', async (t) => {
  const { ask, id, webhooks } = await aLoggedGateway()
  t.match(await ask('POST', `/webhooks/${id}/test`), { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
  t.equal((await ask('POST', `/webhooks/${id}/test?now=1`)).status, 400)
  webhooks.objects[0]!.spec.accountName = 'other'
  t.equal((await ask('POST', `/webhooks/${id}/test`)).status, 404)
})

t.test('GET /webhooks/:id counts pending deliveries by the ledgers', async (t) => {
  const { ask, id, screenshots, webhooks } = await aLoggedGateway()
  const { name } = webhooks.objects[0]!.metadata
  webhooks.objects[0]!.status = { statistics: { total: 3, successful: 2, failed: 1 } }
  const read = async () => (await ask('GET', `/webhooks/${id}`)).body.data.statistics
  t.match(await read(), { total_deliveries: 3, pending_deliveries: 0 })
  screenshots.openDeliveries.set(`acme/${name}`, 2)
  t.match(await read(), { total_deliveries: 5, pending_deliveries: 2 })
  t.equal(webhookIdOf(webhooks.objects[0]!.metadata), id)
})

t.test('deliveries of archived screenshots count, and one call repeats all missed ones', async (t) => {
  const { ask, id, webhooks, objects, postRequests } = await aLoggedGateway()
  const { name } = webhooks.objects[0]!.metadata
  const path = `/webhooks/${id}/redeliver-missed`
  t.match(await ask('POST', path), { status: 202, body: { data: { missed_deliveries: 0 } } })
  t.strictSame(postRequests.posts, [], 'nothing is requested')
  objects.objects.set(`${openPrefixOf('acme', name)}0000000001.${deliveryId(1)}`, '{}')
  for (const n of [2, 3]) objects.objects.set(missedKey('acme', id, deliveryId(n)), '{}')
  t.match((await ask('GET', `/webhooks/${id}`)).body.data.statistics, { pending_deliveries: 1, missed_deliveries: 2 })
  t.match(await ask('POST', path), { status: 202, body: { data: { missed_deliveries: 2 } } })
  t.match(postRequests.posts, [{ webhook: name, post: { do: 'redeliverMissed' } }])
  webhooks.objects[0]!.spec.active = false
  t.match(await ask('POST', path), { status: 409, body: { error: { code: 'CONFLICT' } } })
})

t.test('the list of deliveries can be limited to those of one screenshot', async (t) => {
  const other = newId('scr', NOW, Buffer.alloc(10, 9))
  const { ask, path } = await aLoggedGateway([aLine(), aLine({ delivery: deliveryId(2), screenshot: other })])
  const listed = await ask('GET', `${path}?screenshot_id=${other}`)
  t.strictSame(
    listed.body.data.map(({ screenshot_id }: { screenshot_id: string }) => screenshot_id),
    [other],
  )
  t.equal((await ask('GET', `${path}?screenshot_id=${newId('scr', NOW, Buffer.alloc(10, 3))}`)).body.data.length, 0)
  t.equal((await ask('GET', `${path}?screenshot_id=nonsense`)).status, 400)
})
