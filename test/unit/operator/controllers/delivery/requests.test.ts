import t from 'tap'
import { screenshots, secrets, webhooks } from '../../../../../crds/client/kinds.ts'
import { hexSignature } from '../../../../../crds/src/crypto/signatures.ts'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { RequestedPost } from '../../../../../crds/src/webhooks/webhook-requests.ts'
import { toRequestAnnotation } from '../../../../../crds/src/webhooks/webhook-requests.ts'
import { at, aWebhook } from '../../../../support/fakes/builders.ts'
import { answer, type DeliveryStage, startLeader } from './stage.ts'

/** Requests of an account that run at the same time. */
const AT_ONCE = 8
const nonceOf = (n: number): string => n.toString(16).padStart(20, '0')

/** A leader with a webhook, and what the gateway writes to it. */
async function start(t: Parameters<typeof startLeader>[0]) {
  const stage = await startLeader(t, 'hook')
  const annotate = (annotations: Record<string, string | null>, name = 'hook') =>
    stage.change(webhooks, name, { metadata: { annotations } })
  return {
    ...stage,
    annotate,
    request: (n: number, what: RequestedPost = { do: 'test' }, name?: string) =>
      annotate(toRequestAnnotation({ ...what, nonce: nonceOf(n), at: stage.now() } as Parameters<typeof toRequestAnnotation>[0]), name),
    response: (n: number) => stage.cluster.get(webhooks, 'hook')?.status?.responses?.[nonceOf(n)],
  }
}

t.test('a requested test is posted once, signed, and its response has its own field; it is no delivery', async (t) => {
  const stage = await start(t)
  const respond = stage.hold()
  await stage.request(1)
  stage.receiver.answer = () => answer(201, { isSuccess: true })
  await stage.request(2)
  t.strictSame([stage.response(1), stage.response(2)?.statusCode], [undefined, 201])
  await respond(200)
  await stage.passTo(50)
  t.strictSame(stage.response(1), {
    ...{ time: new Date(at(3).getTime() + 12).toISOString(), success: true, statusCode: 200, responseMilliseconds: 12 },
  })
  t.strictSame(stage.names(), ['hook 1', 'hook 1'])
  const [{ headers, body }] = stage.posts as [(typeof stage.posts)[0]]
  const text = Buffer.from(stage.cluster.get(secrets, 'hook-signing-secret')?.data?.['signing-secret'] ?? '', 'base64').toString()
  t.equal(headers['x-webhook-signature'], hexSignature(body, text))
  t.match(JSON.parse(body), { id: headers['webhook-id'], data: { test: true } })
  t.strictSame([await stage.logged(), stage.statisticsOf('hook')], [[], undefined])
  t.strictSame(await stage.metric('webhook_requested_posts_total'), { 'kind=test,result=ok': 2 })
})

t.test('the response is removed when the requester has removed its request', async (t) => {
  const stage = await start(t)
  await stage.request(1)
  await stage.request(2)
  await stage.annotate({ [Object.keys(toRequestAnnotation({ do: 'test', nonce: nonceOf(1), at: at(3) }))[0]!]: null })
  t.match([stage.response(1), stage.response(2)], [undefined, { success: true }])
})

t.test('a person’s test is answered in lastTest, also of an inactive webhook, and the next text is another test', async (t) => {
  const stage = await start(t)
  await stage.disable('hook')
  const respondToFirst = stage.hold()
  await stage.annotate({ [Annotation.testRequested]: 'one' })
  stage.receiver.answer = () => answer(500)
  await stage.annotate({ [Annotation.testRequested]: 'two' })
  const expected = { request: 'two', statusCode: 500, success: false }
  t.match([stage.posts.length, stage.cluster.get(webhooks, 'hook')?.status?.lastTest], [2, expected])
  await respondToFirst(200)
  t.match([stage.posts.length, stage.cluster.get(webhooks, 'hook')?.status?.lastTest], [2, expected], 'a late response changes nothing')
})

t.test('requests of an account wait for each other, and not for its deliveries', async (t) => {
  const stage = await start(t)
  await stage.subscribe('second')
  stage.hold()
  for (let n = 0; n < AT_ONCE; n++) await stage.add({ name: `shot-${n}` })
  const before = stage.posts.length
  for (let n = 0; n < AT_ONCE; n++) await stage.request(n, { do: 'test' }, n % 2 === 0 ? 'hook' : 'second')
  await stage.request(99)
  t.equal(stage.posts.length - before, AT_ONCE)
})

t.test('a request that the leader cannot start is left to the next one', async (t) => {
  const stage = await start(t)
  const respond = stage.hold()
  for (let n = 0; n < AT_ONCE; n++) await stage.request(n)
  await stage.request(99)
  const ended = stage.leader.end()
  await respond(200)
  await ended
  t.strictSame([stage.posts.length, stage.response(99)], [AT_ONCE, undefined])
  stage.receiver.answer = () => answer(200)
  stage.lead()
  await stage.settle()
  t.match(stage.response(99), { success: true })
})

for (const [what, isRecreated] of Object.entries({ deleted: false, 'created again': true })) {
  t.test(`a webhook that was ${what} while its requests waited gets no post and no response`, async (t) => {
    const stage = await start(t)
    const respond = stage.hold()
    for (let n = 0; n < AT_ONCE; n++) await stage.request(n)
    await stage.request(99)
    await stage.remove(webhooks, 'hook')
    if (isRecreated) stage.cluster.put(webhooks, aWebhook())
    await stage.settle()
    await respond(200)
    t.equal(stage.posts.length, AT_ONCE)
    t.equal(stage.cluster.get(webhooks, 'hook')?.status?.responses, undefined)
  })
}

t.test('a response to a webhook that was just deleted is dropped', async (t) => {
  const stage = await start(t)
  const respond = stage.hold()
  await stage.request(1)
  stage.cluster.fault = ({ verb }) => {
    if (verb === 'patch') stage.cluster.remove(webhooks, 'hook')
    return undefined
  }
  await respond(200)
  await stage.passTo(100)
  t.equal(stage.posts.length, 1)
})

/** A delivery to the webhook that has failed three times. Returns its id. */
async function fail(stage: DeliveryStage, given: Parameters<DeliveryStage['add']>[0] = {}): Promise<string> {
  stage.receiver.answer = () => answer(500)
  await stage.add({ name: 'failed', ...given })
  await stage.passTo(stage.clock.second + 120)
  await stage.flush()
  stage.receiver.answer = () => answer(202, { isSuccess: true })
  return stage.posts.at(-1)?.headers['x-webhook-delivery'] ?? ''
}

t.test('a redelivery repeats the bytes and ids of an event as the next attempt, and it is no longer missed', async (t) => {
  const stage = await start(t)
  const delivery = await fail(stage)
  await stage.subscribe('other', { events: ['screenshot.queued'] })
  t.equal(stage.bucket.keys('undelivered/missed/').length, 1)
  await stage.request(1, { do: 'redeliver', delivery })
  const [first, , third, again] = stage.posts
  t.match(stage.response(1), { success: true, statusCode: 202 })
  t.strictSame(
    [again?.body, again?.headers['webhook-id'], again?.headers['x-webhook-delivery']],
    [first?.body, first?.headers['webhook-id'], delivery],
  )
  t.strictSame([third?.name, again?.name], ['hook 3', 'hook 4'])
  t.match((await stage.logged())[0], { delivery, attempt: 4, manual: true, outcome: 'success', answer: 'ok', last: undefined })
  t.strictSame(stage.bucket.keys('undelivered/'), [])
  t.equal(stage.statisticsOf('hook')?.total, 1)
})

t.test('a redelivery that fails is logged, and stays missed', async (t) => {
  const stage = await start(t)
  const delivery = await fail(stage)
  stage.receiver.answer = () => answer(500)
  await stage.request(1, { do: 'redeliver', delivery })
  t.match([stage.response(1), stage.bucket.keys('undelivered/missed/').length], [{ success: false, statusCode: 500 }, 1])
})

t.test('the event of a single request goes to the URL of that request again', async (t) => {
  const stage = await start(t)
  const webhookUrl = 'https://me.example.com/done'
  await stage.change(webhooks, 'hook', { spec: { isDefault: true } })
  const delivery = await fail(stage, { spec: { webhookUrl } })
  await stage.request(1, { do: 'redeliver', delivery })
  t.match([stage.posts.at(-1)?.url, stage.names().at(-1)], [webhookUrl, 'done 4'])
  t.match((await stage.logged())[0], { manual: true, url: webhookUrl })
})

const refusals: [what: string, error: string, change: (stage: DeliveryStage) => unknown][] = [
  [
    'is of a deleted screenshot',
    'the screenshot was deleted, and its event was not kept',
    async (stage) => {
      stage.cluster.remove(screenshots, 'failed')
      for (const key of stage.bucket.keys('events/')) stage.bucket.objects.delete(key)
    },
  ],
  ['belongs to an inactive webhook', 'the webhook is not active', (stage) => stage.disable('hook')],
  [
    'cannot be signed yet',
    'the webhook has no signing secret yet',
    (stage) => {
      const secret = stage.cluster.get(secrets, 'hook-signing-secret')!
      stage.cluster.put(secrets, { ...secret, type: 'Opaque' })
    },
  ],
]
for (const [what, error, change] of refusals) {
  t.test(`a redelivery is refused if it ${what}`, async (t) => {
    const stage = await start(t)
    const delivery = await fail(stage)
    await change(stage)
    await stage.settle()
    const before = stage.posts.length
    await stage.request(1, { do: 'redeliver', delivery })
    t.strictSame(stage.response(1), { time: stage.now().toISOString(), success: false, statusCode: 0, responseMilliseconds: 0, error })
    t.equal(stage.posts.length, before)
    t.strictSame(await stage.metric('webhook_requested_posts_total'), { 'kind=redeliver,result=failed': 1 })
  })
}

t.test('a webhook redelivers only what is in its own log', async (t) => {
  const stage = await start(t)
  const delivery = await fail(stage)
  await stage.subscribe('other')
  await stage.request(1, { do: 'redeliver', delivery }, 'other')
  t.match(stage.cluster.get(webhooks, 'other')?.status?.responses, {
    [nonceOf(1)]: { success: false, error: 'the log has no such delivery' },
  })
})

t.test('a request waits until the store is available', async (t) => {
  const stage = await start(t)
  const delivery = await fail(stage)
  const end = stage.bucket.goAway('read')
  await stage.request(1, { do: 'redeliver', delivery })
  await stage.passTo(stage.clock.second + 1)
  t.strictSame([stage.posts.length, stage.response(1)], [3, undefined])
  end()
  await stage.passTo(stage.clock.second + 10)
  t.match([stage.posts.length, stage.response(1)], [4, { success: true }])
})

t.test('all missed deliveries are repeated once, in the bucket, unless the webhook is inactive', async (t) => {
  const stage = await start(t)
  await fail(stage)
  const [key = ''] = stage.bucket.keys('undelivered/missed/')
  stage.receiver.answer = () => answer(500)
  await stage.disable('hook')
  await stage.request(1, { do: 'redeliverMissed' })
  t.match([stage.response(1), stage.bucket.objects.has(key)], [{ success: false, error: 'the webhook is not active' }, true])
  await stage.change(webhooks, 'hook', { spec: { active: true } })
  await stage.passTo(stage.clock.second + 1)
  const end = stage.bucket.goAway('write')
  await stage.request(2, { do: 'redeliverMissed' })
  t.match([stage.response(2), stage.bucket.objects.has(key)], [undefined, true], 'a missed delivery is not lost')
  end()
  await stage.passTo(stage.clock.second + 10)
  t.match(stage.response(2), { success: true, statusCode: 0, responseMilliseconds: 0 })
  t.equal(stage.names().at(-1), 'hook 4')
  t.match((await stage.logged())[0], { attempt: 4, manual: true, last: undefined })
  await stage.passTo(stage.clock.second + 500)
  t.equal(stage.names().filter((name) => name === 'hook 4').length, 1, 'it fails and has no further attempt')
  t.match(JSON.parse(stage.bucket.objects.get(key) ?? ''), { attempts: 4, manual: undefined })
  t.strictSame(stage.bucket.keys('undelivered/open/'), [])
  const shot = stage.cluster.get<Screenshot>(screenshots, 'failed')
  t.equal(stage.recorded(shot!).hook, 'failed 3', 'its record stays')
  t.equal(stage.statisticsOf('hook')?.failed, 1)
})
