import { setImmediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t from 'tap'
import { silentLog } from '../../../../../crds/client/log.ts'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { ignoreSilently } from '../../../../../crds/src/records/ignored-objects.ts'
import { DeliveryWorker, type DeliveryWorkerDeps } from '../../../../../operator/src/controllers/delivery/delivery-worker.ts'
import { EventBodies } from '../../../../../operator/src/controllers/delivery/events/event-bodies.ts'
import { PostLimiter } from '../../../../../operator/src/controllers/delivery/flow-control/post-limiter.ts'
import type { Post, PostOutcome } from '../../../../../operator/src/controllers/delivery/http/post.ts'
import { ScreenshotProgress } from '../../../../../operator/src/controllers/delivery/progress.ts'
import { createDeliveryMetrics } from '../../../../../operator/src/controllers/delivery/telemetry/metrics.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'

const ring = { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }
const shot = aScreenshot({ name: 'shot', status: completedStatus() })
const noStore = { put: async () => {}, get: async () => undefined }
const occurrence = { event: 'screenshot.completed', at: at(2) } as const
const anOutcome = (statusCode: number): PostOutcome => ({
  end: 'answered',
  isSuccess: statusCode === 200,
  statusCode,
  detail: '',
  durationMilliseconds: 12,
  excerpt: Buffer.alloc(0),
})

/** A delivery worker with one webhook, whose posts are recorded. */
function aDeliveryWorker(given: Partial<DeliveryWorkerDeps> = {}, hook: Webhook | undefined = aWebhook()) {
  const posts: Post[] = []
  const reported: string[] = []
  const limiter = new PostLimiter({ total: 2, perAccount: 2, perEndpoint: 2 })
  const deliveryWorker = new DeliveryWorker({
    limiter,
    circuitBreakers: { heldUntil: () => undefined, start: () => () => {} },
    post: async (post) => {
      posts.push(post)
      return anOutcome(200)
    },
    eventBodies: new EventBodies({ linkBase: { publicUrl: '', ring }, store: noStore, log: silentLog, report: ignoreSilently }),
    deliveryLog: { note: () => {} },
    signingSecrets: { find: async () => ({ current: 'whsec_c2VjcmV0' }) },
    findWebhook: () => hook,
    findDefaultWebhook: () => undefined,
    exists: () => true,
    onProgress: (key) => reported.push(key),
    onMissingSecret: (key) => reported.push(`no secret for ${key}`),
    now: () => at(5),
    random: () => 0.25,
    version: '1',
    log: silentLog,
    metrics: createDeliveryMetrics(new Registry()),
    ...given,
  })
  const progress = new ScreenshotProgress('uid')
  const send = async (attempt = 1) => {
    deliveryWorker.send({ screenshot: shot, occurrence, webhook: 'hook', attempt, progress })
    const before = progress.get('screenshot.completed', 'hook')
    for (let n = 0; n < 5; n++) await setImmediate()
    return { before, after: progress.get('screenshot.completed', 'hook') }
  }
  return { send, posts, reported, limiter }
}

t.test('DeliveryWorker posts the event to the URL of the webhook and reports the result', async (t) => {
  const { send, posts, reported } = aDeliveryWorker()
  const { before, after } = await send(2)
  t.ok(before, 'the progress is known at once')
  t.match(after, { state: 'ended', attempt: 2, at: at(5), isSuccess: true, statusCode: 200, jitter: 0.25 })
  t.match(posts, [{ url: 'https://hooks.example.com/in', headers: { 'x-webhook-attempt': '2', 'x-webhook-delivery': /^dlv_/ } }])
  t.match(JSON.parse(posts[0]!.body), { type: 'screenshot.completed', id: posts[0]!.headers['webhook-id'] })
  t.strictSame(reported, ['default/shot'])
})

t.test('DeliveryWorker reports a failure with the Retry-After of the receiver', async (t) => {
  const { send } = aDeliveryWorker({ post: async () => ({ ...anOutcome(503), retryAfterMilliseconds: 7_000 }) })
  t.match((await send()).after, { state: 'ended', isSuccess: false, statusCode: 503, retryAfterMilliseconds: 7_000 })
})

t.test('DeliveryWorker drops a job that its webhook no longer wants', async (t) => {
  for (const hook of [undefined, aWebhook({ spec: { active: false } }), aWebhook({ status: { activeSince: at(3).toISOString() } })]) {
    const { send, posts, reported } = aDeliveryWorker({ findWebhook: () => hook })
    t.equal((await send()).after, undefined)
    t.strictSame([posts.length, reported], [0, ['default/shot']])
  }
})

t.test('DeliveryWorker defers a post without a secret, and reports the missing secret', async (t) => {
  const { send, posts, reported } = aDeliveryWorker({ signingSecrets: { find: async () => undefined } })
  t.match((await send()).after, { state: 'deferred', until: at(10) })
  t.strictSame([posts.length, reported], [0, ['no secret for default/hook', 'default/shot']])
})

t.test('DeliveryWorker defers a post when the API server fails', async (t) => {
  const { send, posts } = aDeliveryWorker({ signingSecrets: { find: () => Promise.reject(new Error('away')) } })
  t.match((await send()).after, { state: 'deferred' })
  t.equal(posts.length, 0)
})

t.test('DeliveryWorker starts nothing when the limiter is closed', async (t) => {
  const { send, posts, reported, limiter } = aDeliveryWorker()
  await limiter.close()
  t.match((await send()).after, { state: 'waiting' })
  t.strictSame([posts.length, reported.length], [0, 0])
})

t.test('DeliveryWorker stores the bytes of an event only after its first failure', async (t) => {
  for (const [attempt, statusCode, kept] of [
    [1, 500, 1],
    [1, 200, 0],
    [2, 500, 0],
  ] as const) {
    const bodies: string[] = []
    const store = { put: async (_: string, body: string) => void bodies.push(body), get: async () => undefined }
    const eventBodies = new EventBodies({ linkBase: { publicUrl: '', ring }, store, log: silentLog, report: ignoreSilently })
    const { send } = aDeliveryWorker({ eventBodies, post: async () => anOutcome(statusCode) })
    await send(attempt)
    t.equal(bodies.length, kept, `attempt ${attempt}, status ${statusCode}`)
  }
})

t.test('DeliveryWorker delays a first attempt while the circuit is open, but no later one, which is recorded already', async (t) => {
  const circuitBreakers = { heldUntil: () => at(30), start: () => () => {} }
  const first = aDeliveryWorker({ circuitBreakers })
  t.match((await first.send()).after, { state: 'deferred', until: at(30) })
  t.equal(first.posts.length, 0)
  const second = aDeliveryWorker({ circuitBreakers })
  t.match((await second.send(2)).after, { state: 'ended', attempt: 2 })
})

t.test('DeliveryWorker reports the result of each post to the circuit, and posts that were not sent', async (t) => {
  const ends: unknown[] = []
  const circuitBreakers = { heldUntil: () => undefined, start: () => (isSuccess: boolean | undefined) => void ends.push(isSuccess) }
  await aDeliveryWorker({ circuitBreakers }).send()
  await aDeliveryWorker({ circuitBreakers, post: async () => anOutcome(500) }).send()
  await aDeliveryWorker({ circuitBreakers, signingSecrets: { find: async () => undefined } }).send()
  await aDeliveryWorker({ circuitBreakers, signingSecrets: { find: () => Promise.reject(new Error('away')) } }).send()
  t.strictSame(ends, [true, false, undefined, undefined])
})

t.test('DeliveryWorker posts nothing for a Screenshot that was deleted while the post was queued', async (t) => {
  const { send, posts } = aDeliveryWorker({ exists: () => false })
  t.equal((await send()).after, undefined)
  t.equal(posts.length, 0)
})
