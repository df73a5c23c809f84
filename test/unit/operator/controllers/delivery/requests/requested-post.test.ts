import t from 'tap'
import { hexSignature } from '../../../../../../crds/src/crypto/webhook-signature.ts'
import { newId, webhookIdOf } from '../../../../../../crds/src/identifiers/ids.ts'
import type { Webhook } from '../../../../../../crds/src/kinds/webhook.ts'
import { ignoreSilently } from '../../../../../../crds/src/records/ignored-objects.ts'
import { missedKey } from '../../../../../../crds/src/records/storage-keys.ts'
import { FencedError } from '../../../../../../crds/src/runtime/fence.ts'
import type { AttemptLine } from '../../../../../../crds/src/webhooks/delivery-log.ts'
import { openKey, type Undelivered } from '../../../../../../crds/src/webhooks/undelivered.ts'
import type { Post } from '../../../../../../operator/src/controllers/delivery/http/post.ts'
import { postAsRequested, type RequestPostDeps } from '../../../../../../operator/src/controllers/delivery/requests/requested-post.ts'
import { UndeliveredStore } from '../../../../../../operator/src/controllers/delivery/undelivered/undelivered-store.ts'
import { at, aWebhook } from '../../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../../support/fakes/memory-bucket.ts'

const ring = { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }
const DELIVERY = 'dlv_01kajq2v0vtz8m3c5x7r9w4n6p'
const test = { do: 'test', nonce: 'a'.repeat(20), at: at(1) } as const
const redelivery = { do: 'redeliver', nonce: 'b'.repeat(20), at: at(1), delivery: DELIVERY } as const
const aLine = (changes: Partial<AttemptLine> = {}): AttemptLine => ({
  delivery: DELIVERY,
  event: 'evt_1',
  type: 'screenshot.failed',
  screenshot: 'scr_1',
  attempt: 3,
  at: at(0).toISOString(),
  milliseconds: 12,
  statusCode: 500,
  outcome: 'answered',
  ...changes,
})

/** The posts of a request, and the log afterwards. */
function setUp(lines: AttemptLine[] = [], given: Partial<RequestPostDeps> = {}) {
  let known: Webhook | undefined
  const posts: Post[] = []
  const noted: AttemptLine[] = []
  const missing: string[] = []
  const deps: RequestPostDeps = {
    post: async (post) => {
      posts.push(post)
      return { end: 'answered', isSuccess: true, statusCode: 202, detail: '', durationMilliseconds: 12, excerpt: Buffer.from('ok') }
    },
    signingSecrets: { find: async () => ({ current: 'whsec_c2VjcmV0' }) },
    onMissingSecret: (key) => missing.push(key),
    linkBase: { publicUrl: '', ring },
    deliveryLog: { read: async () => lines, note: (_, line) => noted.push(line) },
    recordedEvents: { load: async () => '{"id":"evt_1"}' },
    undelivered: new UndeliveredStore({ storage: new MemoryBucket().storage, report: ignoreSilently }),
    now: () => at(5),
    version: '1',
    findWebhook: () => known,
    ...given,
  }
  const ask = (request: Parameters<typeof postAsRequested>[1], hook: Webhook = aWebhook()) => {
    known = hook
    return postAsRequested(hook, request, deps)
  }
  return { ask, posts, noted, missing }
}

t.test('postAsRequested posts a signed test event, which is not logged', async (t) => {
  const { ask, posts, noted } = setUp()
  t.strictSame(await ask(test), {
    time: new Date(at(5).getTime() + 12).toISOString(),
    success: true,
    statusCode: 202,
    responseMilliseconds: 12,
  })
  const [{ url, headers, body } = { url: '', headers: {}, body: '' }] = posts
  t.equal(url, 'https://hooks.example.com/in')
  t.match(JSON.parse(body), { id: headers['webhook-id'], data: { test: true } })
  t.equal(headers['x-webhook-signature'], hexSignature(body, 'whsec_c2VjcmV0'))
  t.strictSame(noted, [])
})

t.test('postAsRequested posts a test event to an inactive webhook, also for a manual test', async (t) => {
  const { ask, posts } = setUp()
  const hook = aWebhook({ spec: { active: false } })
  t.match(await ask(test, hook), { success: true })
  t.match(await ask({ do: 'manualTest', nonce: 'by-hand', text: 'now' }, hook), { success: true })
  t.equal(posts.length, 2)
})

t.test('postAsRequested posts nothing when the webhook was deleted, or created again, while the request waited', async (t) => {
  for (const findWebhook of [() => undefined, () => aWebhook()]) {
    const { ask, posts } = setUp([aLine()], { findWebhook })
    for (const request of [test, redelivery]) t.match(await ask(request), { success: false, error: 'the webhook was deleted' })
    t.strictSame(posts, [])
  }
})

t.test('postAsRequested posts an event again with its bytes and ids, and logs it as the next attempt', async (t) => {
  const { ask, posts, noted } = setUp([aLine(), aLine({ delivery: 'dlv_other', attempt: 9 })])
  t.match(await ask(redelivery), { success: true, statusCode: 202 })
  t.match(posts, [{ body: '{"id":"evt_1"}', headers: { 'webhook-id': 'evt_1', 'x-webhook-delivery': DELIVERY, 'x-webhook-attempt': '4' } }])
  t.match(noted, [{ delivery: DELIVERY, event: 'evt_1', attempt: 4, manual: true, outcome: 'success', answer: 'ok' }])
})

t.test('postAsRequested sends the event of a single request to the URL of that request', async (t) => {
  const { ask, posts, noted } = setUp([aLine({ url: 'https://own.example.com/' })])
  await ask(redelivery)
  t.match([posts[0]?.url, noted[0]?.url], ['https://own.example.com/', 'https://own.example.com/'])
})

const refusals: { name: string; desk: ReturnType<typeof setUp>; hook?: Webhook; error: string }[] = [
  { name: 'is not in the log', desk: setUp([]), error: 'the log has no such delivery' },
  {
    name: 'is of a deleted screenshot',
    desk: setUp([aLine()], { recordedEvents: { load: async () => undefined } }),
    error: 'the screenshot was deleted, and its event was not kept',
  },
  {
    name: 'belongs to an inactive webhook',
    desk: setUp([aLine()]),
    hook: aWebhook({ spec: { active: false } }),
    error: 'the webhook is not active',
  },
  {
    name: 'cannot be signed yet',
    desk: setUp([aLine()], { signingSecrets: { find: async () => undefined } }),
    error: 'the webhook has no signing secret yet',
  },
]
for (const { name, desk, hook, error } of refusals) {
  t.test(`postAsRequested rejects a delivery that ${name}`, async (t) => {
    t.strictSame(await desk.ask(redelivery, hook), {
      time: at(5).toISOString(),
      success: false,
      statusCode: 0,
      responseMilliseconds: 0,
      error,
    })
    t.strictSame([desk.posts, desk.noted], [[], []])
  })
}

t.test('postAsRequested throws when the store is unavailable', async (t) => {
  const away = async () => Promise.reject(new Error('the store is unavailable'))
  await t.rejects(setUp([aLine()], { recordedEvents: { load: away } }).ask(redelivery), /unavailable/)
})

t.test('postAsRequested opens all missed deliveries for one more attempt, and refuses an inactive webhook', async (t) => {
  const hook = aWebhook()
  const bucket = new MemoryBucket()
  const undelivered = new UndeliveredStore({ storage: bucket.storage, report: () => undefined })
  const delivery = newId('dlv', at(2), Buffer.alloc(10))
  const missed: Undelivered = {
    ...{ version: 1, delivery, event: newId('evt', at(2), Buffer.alloc(10)), type: 'screenshot.completed' },
    ...{ screenshot: newId('scr', at(1), Buffer.alloc(10)), webhook: 'hook', attempts: 3, at: at(3).toISOString() },
  }
  await undelivered.miss('default', webhookIdOf(hook.metadata), missed)
  const { ask } = setUp([], { undelivered })
  const request = { do: 'redeliverMissed', nonce: '0'.repeat(20), at: at(4) } as const
  t.match(await ask(request, aWebhook({ spec: { active: false } })), { success: false, error: 'the webhook is not active' })
  t.match(await ask(request, hook), { success: true })
  const again = { ...missed, manual: true, at: at(5).toISOString() } as const
  t.strictSame([...bucket.objects], [[openKey('default', again), JSON.stringify({ ...missed, manual: true, at: again.at })]])
  await undelivered.miss('default', webhookIdOf(hook.metadata), missed)
  const fenced = new UndeliveredStore({
    storage: { ...bucket.storage, write: async () => Promise.reject(new FencedError()) },
    report: () => undefined,
  })
  await t.rejects(setUp([], { undelivered: fenced }).ask(request, hook), FencedError)
})

t.test('postAsRequested forgets a missed delivery that was redelivered alone, so that it is not repeated with the others', async (t) => {
  const bucket = new MemoryBucket()
  const hook = aWebhook()
  const key = missedKey('default', webhookIdOf(hook.metadata), DELIVERY)
  bucket.objects.set(key, '{}')
  const undelivered = new UndeliveredStore({ storage: bucket.storage, report: () => undefined })
  t.match(await setUp([aLine()], { undelivered }).ask(redelivery, hook), { success: true })
  t.strictSame(bucket.keys(), [])
})
