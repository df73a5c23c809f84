import t from 'tap'
import { withDeliveryState } from '../../../../../api-gateway/src/resources/deliveries/record.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import type { DeliveryEntry } from '../../../../../crds/src/kinds/screenshot.ts'
import { eventKey, logKey, logPrefix, missedKey } from '../../../../../crds/src/records/storage-keys.ts'
import {
  type AttemptLine,
  type DeliveryState,
  type LoggedDelivery,
  openPrefixOf,
  toLogText,
} from '../../../../../crds/src/webhooks/deliveries.ts'
import { aScreenshot as aShot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'
import { aGateway, aScreenshot, NOW, SCREENSHOT_ID } from '../../fakes.ts'
import { listed } from '../../requests.ts'

const secondsAgo = (seconds: number): string => new Date(NOW.getTime() - seconds * 1_000).toISOString()
const deliveryId = (n: number): string => newId('dlv', NOW, Buffer.alloc(10, n))
const type = 'screenshot.completed'
const aLine = (changes: Partial<AttemptLine> = {}): AttemptLine => ({
  ...{ delivery: deliveryId(1), event: 'evt_1', type, screenshot: SCREENSHOT_ID, attempt: 1, at: secondsAgo(60) },
  ...{ milliseconds: 12, statusCode: 200, outcome: 'success', answer: 'thanks' },
  ...changes,
})

/** A gateway with one webhook and the lines of its log. */
async function aLoggedGateway(lines: AttemptLine[] = [aLine()], isActive = true) {
  const gateway = aGateway()
  const { call, objects, webhooks } = gateway
  const body = { name: 'orders', url: 'https://hooks.example.com/in', events: [type], is_active: isActive }
  const { id } = (await call('POST', '/webhooks', body)).body.data
  objects.objects.set(logKey(logPrefix('acme', id), NOW, lines.length, 'abc'), toLogText(lines))
  const path = `/webhooks/${id}/deliveries`
  const redeliver = (delivery = deliveryId(1)) => call('POST', `${path}/${delivery}/redeliver`)
  return { ...gateway, id, name: webhooks.objects[0]!.metadata.name, hook: `/webhooks/${id}`, path, redeliver }
}

t.test('GET /webhooks/:id/deliveries puts the attempts of a delivery together', async (t) => {
  const failure = { statusCode: 503, outcome: 'answered', detail: 'the endpoint answered 503', answer: 'no' }
  const { call, path } = await aLoggedGateway([aLine({ attempt: 2 }), aLine({ ...failure, at: secondsAgo(70) })])
  const { status, body } = await call('GET', path)
  const attempt = { manual: false, duration_ms: 12 }
  const failed = { status_code: 503, error: 'answered', error_message: 'the endpoint answered 503', response_body: 'no' }
  const succeeded = { status_code: 200, error: null, error_message: null, response_body: 'thanks' }
  t.equal(status, 200)
  t.strictSame(body, {
    success: true,
    data: [
      {
        id: deliveryId(1),
        event_id: 'evt_1',
        event_type: type,
        screenshot_id: SCREENSHOT_ID,
        status: 'successful',
        attempt_count: 2,
        first_attempt_at: secondsAgo(70),
        last_attempt_at: secondsAgo(60),
        last_status_code: 200,
        attempts: [
          { number: 1, ...attempt, at: secondsAgo(70), ...failed },
          { number: 2, ...attempt, at: secondsAgo(60), ...succeeded },
        ],
      },
    ],
    pagination: { limit: 100, has_more: false, next_cursor: null },
  })
})

t.test('GET /webhooks/:id/deliveries shows no attempt where a delivery was only given up', async (t) => {
  const withdrawn = aLine({ statusCode: 0, outcome: 'withdrawn', last: true, at: secondsAgo(1) })
  const { call, path } = await aLoggedGateway([withdrawn, aLine({ statusCode: 500, outcome: 'answered' })])
  const expected = { status: 'failed', attempt_count: 1, attempts: { length: 1 }, last_status_code: 500 }
  t.match((await call('GET', path)).body.data, [expected])
})

t.test('GET /webhooks/:id/deliveries walks all pages and gives each delivery once', async (t) => {
  const lines = Array.from({ length: 7 }, (_, n) => aLine({ delivery: deliveryId(n), at: secondsAgo(Math.floor(n / 2)) }))
  const { call, path } = await aLoggedGateway(lines)
  const seen: string[] = []
  for (let query: string | undefined = '?limit=3'; query !== undefined; ) {
    const page = await call('GET', path + query)
    seen.push(...listed(page))
    const { has_more, next_cursor } = page.body.pagination
    query = has_more ? `?limit=3&cursor=${next_cursor}` : undefined
  }
  t.strictSame(seen.toSorted(), lines.map(({ delivery }) => delivery).sort())
  t.strictSame([seen.slice(0, 2).toSorted(), seen.at(-1)], [[deliveryId(0), deliveryId(1)], deliveryId(6)])
})

t.test('GET /webhooks/:id/deliveries picks by status and by screenshot', async (t) => {
  const other = newId('scr', NOW, Buffer.alloc(10, 9))
  const timeout = { outcome: 'timeout', statusCode: 0 }
  const { call, path, screenshots } = await aLoggedGateway([
    aLine(),
    aLine({ delivery: deliveryId(2), ...timeout }),
    aLine({ delivery: deliveryId(3), ...timeout, last: true, screenshot: other }),
  ])
  screenshots.put(aScreenshot({}))
  const idsOf = async (query: string) => listed(await call('GET', `${path}?${query}`)).sort()
  t.strictSame(await idsOf('status=successful'), [deliveryId(1)])
  t.strictSame(await idsOf('status=pending'), [deliveryId(2)])
  t.strictSame(await idsOf('status=failed,pending'), [deliveryId(2), deliveryId(3)].sort())
  t.strictSame(await idsOf(`screenshot_id=${other}`), [deliveryId(3)])
  t.strictSame(await idsOf(`screenshot_id=${newId('scr', NOW, Buffer.alloc(10, 3))}`), [])
})

const queries = ['limit=0', 'cursor=abc', 'status=odd', 'status=failed&status=pending', 'offset=3', 'screenshot_id=nonsense']
t.test('GET /webhooks/:id/deliveries refuses wrong queries', async (t) => {
  const { call, path } = await aLoggedGateway()
  for (const query of queries)
    t.match(await call('GET', `${path}?${query}`), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, query)
})

t.test('deliveries of another account, of another webhook, and unknown ones, are not found', async (t) => {
  const { call, path, webhooks, redeliver } = await aLoggedGateway()
  const second = await call('POST', '/webhooks', { name: 'second', url: 'https://hooks.example.com/2', events: [type] })
  t.equal((await call('GET', `${path}/${deliveryId(1)}`)).status, 200, 'control')
  for (const delivery of [deliveryId(2), 'x']) {
    t.equal((await call('GET', `${path}/${delivery}`)).status, 404, delivery)
    t.equal((await redeliver(delivery)).status, 404, delivery)
  }
  const underSecond = `/webhooks/${second.body.data.id}/deliveries/${deliveryId(1)}`
  t.equal((await call('GET', underSecond)).status, 404)
  t.equal((await call('POST', `${underSecond}/redeliver`)).status, 404)
  webhooks.change(({ spec }) => (spec.accountName = 'other'), 0)
  for (const url of [path, `${path}/${deliveryId(1)}`]) t.equal((await call('GET', url)).status, 404, url)
  t.equal((await redeliver()).status, 404)
})

t.test('POST …/redeliver requests the post from the operator and responds at once', async (t) => {
  const { redeliver, screenshots, postRequests, name } = await aLoggedGateway()
  screenshots.put(aScreenshot({}))
  const data = { delivery_id: deliveryId(1), event_id: 'evt_1' }
  t.match(await redeliver(), { status: 202, body: { success: true, message: String, data } })
  t.strictSame(postRequests.posts, [{ webhook: name, post: { do: 'redeliver', delivery: deliveryId(1) } }])
})

t.test('POST …/redeliver responds with 410 when the event has expired', async (t) => {
  const { redeliver, objects, postRequests } = await aLoggedGateway()
  t.match(await redeliver(), { status: 410, body: { error: { code: 'EXPIRED' } } })
  objects.objects.set(eventKey('evt_1'), '{}')
  t.equal((await redeliver()).status, 202)
  t.equal(postRequests.posts.length, 1)
})

t.test('POST …/redeliver is rejected while the webhook is inactive', async (t) => {
  const { redeliver, screenshots, postRequests } = await aLoggedGateway([aLine()], false)
  screenshots.put(aScreenshot({}))
  t.match(await redeliver(), { status: 409, body: { error: { code: 'CONFLICT' } } })
  t.strictSame(postRequests.posts, [])
})

t.test('POST /webhooks/:id/test responds with 200 and the endpoint’s response, also while the webhook is inactive', async (t) => {
  const { call, hook, postRequests } = await aLoggedGateway([aLine()], false)
  const response = { time: NOW.toISOString(), success: true, statusCode: 204, responseMilliseconds: 38 }
  postRequests.response = response
  t.strictSame((await call('POST', `${hook}/test`)).body, {
    success: true,
    message: 'The endpoint accepted the test event',
    status_code: 204,
    response_time_ms: 38,
    error: null,
    timestamp: NOW.toISOString(),
  })
  const error = 'no answer in time'
  postRequests.response = { ...response, success: false, statusCode: 0, error }
  t.match(await call('POST', `${hook}/test`), { status: 200, body: { success: false, status_code: 0, error } })
  t.strictSame(postRequests.posts[0]?.post, { do: 'test' })
})

t.test('POST /webhooks/:id/test responds with 503 without an operator', async (t) => {
  const { call, hook } = await aLoggedGateway()
  t.match(await call('POST', `${hook}/test`), { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
  t.equal((await call('POST', `${hook}/test?now=1`)).status, 400)
})

t.test('deliveries of archived screenshots count, and one call repeats all missed ones', async (t) => {
  const { call, id, hook, name, webhooks, objects, postRequests } = await aLoggedGateway()
  const repeat = () => call('POST', `${hook}/redeliver-missed`)
  t.match(await repeat(), { status: 202, body: { data: { missed_deliveries: 0 } } })
  t.strictSame(postRequests.posts, [], 'nothing is requested')
  objects.objects.set(`${openPrefixOf('acme', name)}0000000001.${deliveryId(1)}`, '{}')
  for (const n of [2, 3]) objects.objects.set(missedKey('acme', id, deliveryId(n)), '{}')
  t.match((await call('GET', hook)).body.data.statistics, { pending_deliveries: 1, missed_deliveries: 2 })
  t.match(await repeat(), { status: 202, body: { data: { missed_deliveries: 2 } } })
  t.match(postRequests.posts, [{ webhook: name, post: { do: 'redeliverMissed' } }])
  webhooks.change(({ spec }) => (spec.active = false))
  t.match(await repeat(), { status: 409, body: { error: { code: 'CONFLICT' } } })
})

const aDelivery = (state: DeliveryState): LoggedDelivery => ({
  id: deliveryId(1),
  state,
  attempts: [aLine({ at: at(1).toISOString(), statusCode: 500, outcome: 'answered' })],
})
/** A live Screenshot whose ledger has this state for a webhook. */
const ledger = (state?: DeliveryEntry['state'], name = 'hook') => {
  const entry = state && { [type]: { [name]: { attempts: 1, at: at(2).toISOString(), state } } }
  return aShot({ status: completedStatus(entry ? { deliveries: entry } : {}) })
}

const states = [
  ['leaves what the log knows', 'successful', ledger('failed'), 'successful'],
  ['leaves pending what the ledger has open', 'pending', ledger('open'), 'pending'],
  ['leaves pending what the ledger does not have yet', 'pending', ledger(), 'pending'],
  ['takes a success from the ledger', 'pending', ledger('ok'), 'successful'],
  ['takes a failure from the ledger', 'pending', ledger('failed'), 'failed'],
  ['leaves pending what is archived: its retries follow within hours', 'pending', undefined, 'pending'],
] as const
for (const [name, logged, live, state] of states) {
  t.test(`withDeliveryState ${name}`, async (t) => {
    t.equal(withDeliveryState(aDelivery(logged), aWebhook(), { live, now: at(60) }).state, state)
  })
}

t.test('withDeliveryState finds the deliveries of a default webhook by their own name', async (t) => {
  const hook = aWebhook({ spec: { isDefault: true } })
  t.equal(withDeliveryState(aDelivery('pending'), hook, { live: ledger('ok', '_request'), now: at(60) }).state, 'successful')
})

t.test('withDeliveryState calls failed what has had no attempt for a day, because the last line was lost', async (t) => {
  t.equal(withDeliveryState(aDelivery('pending'), aWebhook(), { live: undefined, now: at(86_402) }).state, 'failed')
})
