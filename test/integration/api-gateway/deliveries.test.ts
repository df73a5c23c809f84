import t from 'tap'
import { mergePatch } from '../../../crds/client/patch.ts'
import { hexSignature } from '../../../crds/src/crypto/webhook-signature.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { toRequestAnnotation } from '../../../crds/src/webhooks/webhook-requests.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, answerWith } from '../../support/servers/https-receiver.ts'
import { startStage } from './deliveries-stage.ts'

// The log of deliveries, and deliveries on request, through a real gateway and a real operator.

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

t.test('GET /webhooks/:id/deliveries is paged, newest first, and filters by status', async (t) => {
  const { id } = await stage.subscribe()
  const screenshots: string[] = []
  for (const status of [200, 410, 200]) {
    receiver.answer = answerWith(status)
    screenshots.unshift(await stage.capture())
    await whenSettled(id, screenshots.length)
  }
  const all = await stage.whenListed(id, (data) => data.length === 3 && data.every(({ status }) => status !== 'pending'))
  t.strictSame(
    all.map((delivery) => delivery.screenshot_id),
    screenshots,
  )
  const first = (await rest('GET', `/webhooks/${id}/deliveries?limit=2`)).body
  t.match(first, { data: { length: 2 }, pagination: { limit: 2, has_more: true, next_cursor: String } })
  const second = (await rest('GET', `/webhooks/${id}/deliveries?limit=2&cursor=${first.pagination.next_cursor}`)).body
  t.strictSame([...first.data, ...second.data], all)
  t.match(second.pagination, { has_more: false, next_cursor: null })
  const failed = (await rest('GET', `/webhooks/${id}/deliveries?status=failed`)).body.data
  t.match(failed, [{ screenshot_id: screenshots[1], last_status_code: 410, attempt_count: 3 }])
  t.equal(failed.length, 1)
  t.equal((await rest('GET', `/webhooks/${id}/deliveries?status=odd`)).status, 400)
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

t.test('POST …/redeliver completes a failed delivery', async (t) => {
  const { id } = await stage.subscribe()
  receiver.answer = answerWith(500)
  await stage.capture()
  const [failed] = await stage.whenListed(id, ([delivery]) => delivery?.status === 'failed')
  receiver.answer = answerWith(200)
  t.equal((await rest('POST', `${pathOf(id, failed.id)}/redeliver`)).status, 202)
  const [repaired] = await stage.whenListed(id, ([delivery]) => delivery.status === 'successful')
  t.match(repaired.attempts, { length: 4, 3: { number: 4, manual: true, status_code: 200 } })
  t.strictSame(receiver.received.at(-1)?.body, receiver.received[0]?.body)
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

t.test('deliveries are not visible to other accounts, under another webhook, or after the webhook was deleted', async (t) => {
  const { id } = await stage.subscribe()
  const { id: other } = await stage.subscribe({ events: ['screenshot.failed'] })
  await stage.capture()
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  const none = newId('dlv', new Date())
  const cases = [
    { path: `/webhooks/${id}/deliveries`, as: stage.foreign },
    { path: pathOf(id, delivery.id), as: stage.foreign },
    { path: pathOf(other, delivery.id) },
    { path: pathOf(id, none) },
    { path: pathOf(id, 'x') },
  ]
  for (const { path, as = stage.key } of cases) t.equal((await rest('GET', path, { as })).status, 404, path)
  for (const { path, as = stage.key } of cases.slice(1)) t.equal((await rest('POST', `${path}/redeliver`, { as })).status, 404, path)
  await rest('PATCH', `/webhooks/${id}`, { body: { is_active: false } })
  t.match(await rest('POST', `${pathOf(id, delivery.id)}/redeliver`), { status: 409, body: { error: { code: 'CONFLICT' } } })
  await rest('DELETE', `/webhooks/${id}`)
  t.equal((await rest('GET', pathOf(id, delivery.id))).status, 404)
  t.equal((await rest('POST', `${pathOf(id, delivery.id)}/redeliver`)).status, 404)
  t.equal(receiver.received.length, 1)
})

t.test('a manual annotation cannot redeliver for another webhook', async (t) => {
  const { id } = await stage.subscribe()
  await stage.capture()
  const [delivery] = await stage.whenListed(id, (data) => data.length === 1)
  const { id: thief } = await stage.subscribe({ events: ['screenshot.failed'] })
  const asked = { do: 'redeliver', nonce: 'c'.repeat(20), at: new Date(), delivery: delivery.id } as const
  await hooks.patch(toObjectName(thief), mergePatch({ metadata: { annotations: toRequestAnnotation(asked) } }))
  const response = await eventually(
    'the operator has responded',
    async () => (await hooks.get(toObjectName(thief))).status?.responses?.[asked.nonce],
  )
  t.match(response, { success: false, statusCode: 0, error: 'the log has no such delivery' })
  t.equal(receiver.received.length, 1)
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

t.test('a delivery is pending while another attempt is due, and failed when the webhook is inactive', async (t) => {
  await operator.end('SIGTERM')
  operator = await stage.startOperator({ TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: '600000' })
  const { id } = await stage.subscribe()
  receiver.answer = answerWith(500)
  await stage.capture()
  await stage.whenListed(id, ([delivery]) => delivery?.status === 'pending')
  t.match(await statisticsOf(id), { total_deliveries: 1, pending_deliveries: 1, failed_deliveries: 0 })
  await rest('PATCH', `/webhooks/${id}`, { body: { is_active: false } })
  const [delivery] = await stage.whenListed(id, ([first]) => first.status === 'failed')
  t.match(delivery, { attempt_count: 1, last_status_code: 500, attempts: { length: 1 } })
  await whenSettled(id, 1)
  t.match(await statisticsOf(id), { total_deliveries: 1, pending_deliveries: 0, failed_deliveries: 1 })
})
