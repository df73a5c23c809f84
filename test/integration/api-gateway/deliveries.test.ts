import t from 'tap'
import { mergePatch } from '../../../crds/client/resource.ts'
import { hexSignature } from '../../../crds/src/crypto/signatures.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { MAX_OPEN_REQUESTS, toRequestAnnotation } from '../../../crds/src/webhooks/webhook-requests.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, answerWith } from '../../support/servers/https-receiver.ts'
import { startStage } from './deliveries-stage.ts'

// The log of deliveries, deliveries on request and tests of endpoints, through a real gateway and a real operator.

const stage = await startStage(t)
const { receiver, rest, hooks } = stage
let operator = await stage.startOperator()

/** Responds with one status after the other, and repeats the last one. */
const inTurn =
  (...statuses: number[]): Answer =>
  (request, response) =>
    answerWith(statuses.length > 1 ? statuses.shift()! : statuses[0]!, 'said')(request, response)
const pathOf = (hook: string, delivery: string) => `/webhooks/${hook}/deliveries/${delivery}`
const statisticsOf = async (id: string) => (await rest('GET', `/webhooks/${id}`)).body.data.statistics
const whenSettled = (id: string, count: number) =>
  eventually('the delivery is counted', async () => {
    const { successful_deliveries: ok, failed_deliveries: failed } = await statisticsOf(id)
    return ok + failed === count
  })

t.test('GET /webhooks/:id/deliveries lists an event once, with all its attempts', async (t) => {
  const { id } = await stage.subscribe()
  receiver.answer = inTurn(503, 500, 200)
  const screenshot = await stage.capture()
  const [delivery] = await stage.whenListed(id, ([first]) => first?.attempts.length === 3)
  const headers = receiver.received[0]!.headers
  t.match(delivery, {
    id: headers['x-webhook-delivery'],
    event_id: headers['webhook-id'],
    event_type: 'screenshot.completed',
    screenshot_id: screenshot,
    status: 'successful',
    attempt_count: 3,
    last_status_code: 200,
    attempts: [
      {
        number: 1,
        manual: false,
        status_code: 503,
        error: 'answered',
        error_message: 'the endpoint responded with 503',
        response_body: 'said',
      },
      { number: 2, status_code: 500 },
      { number: 3, status_code: 200, error: null, error_message: null, response_body: 'said' },
    ],
  })
  t.strictSame((await rest('GET', pathOf(id, delivery.id))).body, { success: true, data: delivery })
})

t.test('the log does not contain the signing secret, even if the endpoint echoes it', async (t) => {
  const { id, signing_secret: secret } = await stage.subscribe()
  receiver.answer = answerWith(200, `${secret} and ${'x'.repeat(975 - secret.length)} ${secret}`)
  await stage.capture()
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  const { response_body: body } = delivery.attempts[0]
  t.match(body, /^\*\*\* and x+ \*\*\*$/)
  t.notOk(JSON.stringify(delivery).includes(secret.slice(0, 12)))
})

t.test('POST …/redeliver posts the same bytes again, and is logged but not counted in statistics', async (t) => {
  const { id, signing_secret: secret } = await stage.subscribe()
  await stage.capture()
  await whenSettled(id, 1)
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  const before = await statisticsOf(id)
  receiver.answer = answerWith(500)
  const { status, body } = await rest('POST', `${pathOf(id, delivery.id)}/redeliver`)
  t.equal(status, 202)
  t.match(body, { success: true, data: { delivery_id: delivery.id, event_id: delivery.event_id } })
  const [first, again] = await receiver.whenReceived(2)
  t.strictSame(again?.body, first?.body)
  t.match(again?.headers, { 'webhook-id': first?.headers['webhook-id'], 'x-webhook-delivery': delivery.id, 'x-webhook-attempt': '2' })
  t.equal(again?.headers['x-webhook-signature'], hexSignature(again!.body, secret))
  const [after] = await stage.whenListed(id, ([listed]) => listed.attempts.length === 2)
  t.match(after, { status: 'successful', attempts: [{ manual: false }, { number: 2, manual: true, status_code: 500 }] })
  t.strictSame(await statisticsOf(id), before)
  t.equal(receiver.received.length, 2, 'the failed post is not retried')
})

t.test('POST …/redeliver works on archived records, and waits for an unavailable operator', async (t) => {
  await stage.whenSecondIsOver()
  const { id } = await stage.subscribe()
  const screenshot = await stage.capture()
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  await whenSettled(id, 1)
  await operator.end('SIGTERM')
  t.equal((await rest('POST', `${pathOf(id, delivery.id)}/redeliver`)).status, 202)
  operator = await stage.startOperator({ TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: '0', TINTYPE_RETENTION_LIVE_FOR_SECONDS: '1' })
  const [first, second] = await receiver.whenReceived(2)
  t.strictSame(second?.body, first?.body)
  await eventually('the record is archived', async () => !(await stage.world.screenshots.find(toObjectName(screenshot))))
  t.equal((await rest('POST', `${pathOf(id, delivery.id)}/redeliver`)).status, 202)
  const [, , third] = await receiver.whenReceived(3)
  t.strictSame(third?.body, first?.body)
})

t.test('POST …/redeliver returns 410 when the screenshot is deleted, unless its event was kept', async (t) => {
  const { id } = await stage.subscribe()
  const gone = await stage.capture()
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  await rest('DELETE', `/screenshots/${gone}`)
  t.match(await rest('POST', `${pathOf(id, delivery.id)}/redeliver`), { status: 410, body: { error: { code: 'EXPIRED' } } })
  receiver.answer = inTurn(500, 200)
  const kept = await stage.capture()
  const [retried] = await stage.whenListed(id, ([first]) => first.screenshot_id === kept && first.status === 'successful')
  await whenSettled(id, 2)
  await rest('DELETE', `/screenshots/${kept}`)
  t.equal((await rest('POST', `${pathOf(id, retried.id)}/redeliver`)).status, 202)
  const posts = await receiver.whenReceived(4)
  t.strictSame(posts[3]?.body, posts[1]?.body)
})

t.test('POST …/redeliver is executed by the next operator if the first is killed meanwhile', async (t) => {
  await stage.whenSecondIsOver()
  const { id } = await stage.subscribe()
  await stage.capture()
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  const { process: victim, end } = operator
  receiver.answer = () => void victim.kill('SIGKILL')
  t.equal((await rest('POST', `${pathOf(id, delivery.id)}/redeliver`)).status, 202)
  await receiver.whenReceived(2)
  await end('SIGKILL')
  receiver.answer = answerWith(200)
  operator = await stage.startOperator()
  const [first, cutOff, again] = await receiver.whenReceived(3)
  t.strictSame([cutOff?.body, again?.body], [first?.body, first?.body])
  const [repeated] = await stage.whenListed(id, ([listed]) => listed.attempts.length === 2)
  t.match(repeated.attempts[1], { number: 2, manual: true, status_code: 200 })
})

const statusOf = async (id: string) => (await hooks.get(toObjectName(id))).status
const isTidy = (id: string) =>
  eventually('the request and its response are removed', async () => {
    const { metadata, status } = await hooks.get(toObjectName(id))
    const asked = Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith('request.'))
    return asked.length === 0 && Object.keys(status?.responses ?? {}).length === 0
  })

t.test('POST /webhooks/:id/test posts a signed sample once and returns the result', async (t) => {
  const { id, signing_secret: secret } = await stage.subscribe()
  const { status, body } = await rest('POST', `/webhooks/${id}/test`)
  t.equal(status, 200)
  t.match(body, { success: true, message: String, status_code: 200, response_time_ms: Number, error: null })
  t.ok(Math.abs(Date.parse(body.timestamp) - Date.now()) < 60_000)
  t.equal(receiver.received.length, 1)
  const [request] = receiver.received
  t.match(request?.headers, { 'x-webhook-event': 'screenshot.completed', 'x-webhook-id': id, 'x-webhook-attempt': '1' })
  t.equal(request?.headers['x-webhook-signature'], hexSignature(request!.body, secret))
  const event = JSON.parse(request!.body.toString())
  t.match(event, { id: request?.headers['webhook-id'], type: 'screenshot.completed', data: { test: true } })
  t.match(event.data.screenshot, { id: /^scr_/, status: 'completed', format: 'png', error: null, storage_path: /^users\/acme\// })
  t.equal((await statusOf(id))?.statistics, undefined, 'the test is not counted')
  await isTidy(id)
})

t.test('POST /webhooks/:id/test returns to each of many callers the result of its own test', async (t) => {
  const { id } = await stage.subscribe()
  let next = 200
  receiver.answer = (request, response) => answerWith(next++)(request, response)
  const responses = await Promise.all(Array.from({ length: 8 }, () => rest('POST', `/webhooks/${id}/test`)))
  t.strictSame(responses.map(({ body }) => body.status_code).sort(), [200, 201, 202, 203, 204, 205, 206, 207])
  t.equal(receiver.received.length, 8)
  await isTidy(id)
})

t.test('POST /webhooks/:id/test returns 503 without an operator, and nothing is posted later', async (t) => {
  const { id } = await stage.subscribe()
  await operator.end('SIGTERM')
  t.match(await rest('POST', `/webhooks/${id}/test`), { status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
  await isTidy(id)
  operator = await stage.startOperator()
  t.match(await rest('POST', `/webhooks/${id}/test`), { status: 200, body: { success: true } })
  t.equal(receiver.received.length, 1)
})

t.test('POST /webhooks/:id/test is rejected while too many requests are pending, and removes expired ones', async (t) => {
  const { id } = await stage.subscribe()
  await operator.end('SIGTERM')
  const requestsAt = (at: Date) =>
    Array.from({ length: MAX_OPEN_REQUESTS }, (_, n) => toRequestAnnotation({ do: 'test', nonce: n.toString(16).padStart(20, '0'), at }))
  const annotate = (at: Date) =>
    hooks.patch(toObjectName(id), mergePatch({ metadata: { annotations: Object.assign({}, ...requestsAt(at)) } }))
  await annotate(new Date())
  const isRefused = async () =>
    /requests for this webhook are pending/.test((await rest('POST', `/webhooks/${id}/test`)).body.error.message)
  await eventually('the gateway knows the pending requests', isRefused)
  await annotate(new Date(Date.now() - 3_600_000))
  operator = await stage.startOperator()
  await eventually('a test is accepted again', async () => (await rest('POST', `/webhooks/${id}/test`)).status === 200)
  t.equal(receiver.received.length, 1)
  await isTidy(id)
})
