import t from 'tap'
import { mergePatch } from '../../../crds/client/patch.ts'
import { hexSignature } from '../../../crds/src/crypto/webhook-signature.ts'
import { Annotation, toObjectName } from '../../../crds/src/identifiers/names.ts'
import { MAX_OPEN_REQUESTS, toRequestAnnotation } from '../../../crds/src/webhooks/webhook-requests.ts'
import { eventually } from '../../support/eventually.ts'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { startStage } from './deliveries-stage.ts'

// POST /webhooks/:id/test through a real gateway and a real operator, and the same with kubectl.

const stage = await startStage(t)
const { receiver, rest, hooks } = stage
let operator = await stage.startOperator()

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

t.test('POST /webhooks/:id/test works on an inactive endpoint', async (t) => {
  const { id } = await stage.subscribe({ is_active: false })
  t.match(await rest('POST', `/webhooks/${id}/test`), { status: 200, body: { success: true, status_code: 200 } })
  t.equal(receiver.received.length, 1)
})

t.test('POST /webhooks/:id/test returns 200 with the failure, without a retry', async (t) => {
  const { id } = await stage.subscribe()
  receiver.answer = answerWith(503)
  const refused = { success: false, status_code: 503, error: 'the endpoint responded with 503' }
  t.match(await rest('POST', `/webhooks/${id}/test`), { status: 200, body: refused })
  receiver.answer = (_, response) => void response.socket?.destroy()
  t.match(await rest('POST', `/webhooks/${id}/test`), { status: 200, body: { success: false, status_code: 0, error: String } })
  receiver.answer = () => {}
  t.match(await rest('POST', `/webhooks/${id}/test`), {
    status: 200,
    body: { success: false, status_code: 0, error: 'no response in time' },
  })
  t.equal(receiver.received.length, 3)
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

t.test('POST /webhooks/:id/test is rejected for webhooks of other accounts', async (t) => {
  const { id } = await stage.subscribe()
  t.equal((await rest('POST', `/webhooks/${id}/test`, { as: stage.foreign })).status, 404)
  await rest('DELETE', `/webhooks/${id}`)
  t.equal((await rest('POST', `/webhooks/${id}/test`)).status, 404)
  t.equal(receiver.received.length, 0)
})

t.test('kubectl annotate requests one test per value, and the result is in the status', async (t) => {
  await hooks.create({ metadata: { name: 'by-hand' }, spec: { accountName: 'acme', url: receiver.url, events: ['screenshot.failed'] } })
  await eventually('the webhook is active', async () => (await hooks.get('by-hand')).status?.activeSince !== undefined)
  const annotate = (text: string) => hooks.patch('by-hand', mergePatch({ metadata: { annotations: { [Annotation.testRequested]: text } } }))
  const whenResponded = (request: string) =>
    eventually(`${request} is answered`, async () => {
      const { status } = await hooks.get('by-hand')
      return status?.lastTest?.request === request && status.lastTest
    })
  receiver.answer = answerWith(500)
  await annotate('now')
  t.match(await whenResponded('now'), { success: false, statusCode: 500, error: 'the endpoint responded with 500' })
  receiver.answer = answerWith(204)
  await annotate('now')
  await annotate('again')
  const response = await whenResponded('again')
  t.match(response, { success: true, statusCode: 204 })
  t.notOk('error' in response)
  t.equal(receiver.received.length, 2)
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
