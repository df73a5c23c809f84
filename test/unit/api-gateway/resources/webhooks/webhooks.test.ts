import t from 'tap'
import { unseal } from '../../../../../crds/src/crypto/sealed.ts'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { defaultWebhookId } from '../../../../../crds/src/webhooks/deliveries.ts'
import { aGateway, aScreenshot, NOW, OPENING_KEY } from '../../fakes.ts'
import { listed, problemsIn, type Refusal, testRefusals } from '../../requests.ts'

const hook = { name: 'orders', url: 'https://hooks.example.com/in', events: ['screenshot.completed'] }

/** A gateway with webhooks. */
function start(changes: Parameters<typeof aGateway>[0] = {}) {
  const gateway = aGateway(changes)
  const newest = (): Webhook => gateway.webhooks.objects.at(-1)!
  /** Creates a webhook. Returns its record and its path. */
  const create = async (body: object = {}) => {
    const { data } = (await gateway.call('POST', '/webhooks', { ...hook, ...body })).body
    return { record: data, path: `/webhooks/${data.id}` }
  }
  /** A signing secret of the newest webhook. */
  const open = (index = 0) => {
    const sealedFor = { purpose: 'signing-secret', subject: newest().metadata.name, account: 'acme' } as const
    return unseal(newest().spec.signingSecrets![index]!.sealed, sealedFor, [OPENING_KEY])
  }
  return { ...gateway, newest, create, open }
}

t.test('POST /webhooks returns the documented record, and stores the secret sealed', async (t) => {
  const { call, newest, open } = start()
  const created = await call('POST', '/webhooks', { ...hook, description: 'all of them' })
  const { signing_secret: secret, ...record } = created.body.data
  t.match(created, { status: 201, body: { message: 'Webhook created successfully' } })
  t.match(created.headers, { location: `/api/v1/webhooks/${record.id}`, 'cache-control': 'private, no-store' })
  t.match(secret, /^whsec_[A-Za-z0-9+/]{44}$/)
  t.strictSame(record, {
    ...hook,
    id: record.id,
    description: 'all of them',
    is_active: true,
    is_default: false,
    created_at: NOW.toISOString(),
    updated_at: NOW.toISOString(),
    disabled_reason: null,
    signing_secret_hint: `whsec_…${secret.slice(-4)}`,
  })
  t.match(record.id, /^wh_[0-9a-z]{26}$/)
  t.notMatch(JSON.stringify(newest()), secret.slice(6))
  t.equal(await open(), secret)
  t.notMatch(JSON.stringify((await call('GET', `/webhooks/${record.id}`)).body), secret)
})

const ofBytes = (count: number) => `whsec_${Buffer.alloc(count, 1).toString('base64')}`
const ownSecrets: [text: string, hint?: string][] = [[ofBytes(24), 'whsec_…AQEB'], [ofBytes(64)], ['correct-horse-battery-staple', '…aple']]
for (const [text, hint] of ownSecrets) {
  t.test(`POST /webhooks takes the client’s own secret ${text.slice(0, 30)} of ${text.length} characters`, async (t) => {
    const { call, open } = start()
    const created = await call('POST', '/webhooks', { ...hook, signing_secret: text })
    t.match(created, { status: 201, body: { data: { signing_secret: text, ...(hint ? { signing_secret_hint: hint } : {}) } } })
    t.equal(await open(), text)
  })
}

const unfitSecrets = [
  ofBytes(23),
  ofBytes(65),
  'whsec_this-is-not-base64-of-anything',
  'x'.repeat(23),
  'x'.repeat(65),
  'correct horse battery staple',
]
const refused: Refusal[] = [
  ['no body', undefined, ' required'],
  ['nothing', {}, 'events required', 'name required', 'url required'],
  ['no events', { ...hook, events: [] }, 'events too_small'],
  ['an unknown event', { ...hook, events: ['*'] }, 'events[0] invalid_value'],
  ['an event twice', { ...hook, events: ['video.failed', 'video.failed'] }, 'events[1] duplicate'],
  ['a long name', { ...hook, name: 'x'.repeat(101) }, 'name too_big'],
  ['a name of blanks', { ...hook, name: ' \t ' }, 'name invalid_value'],
  ['a long description', { ...hook, description: 'x'.repeat(501) }, 'description too_big'],
  ['a text for is_active', { ...hook, is_active: 'true' }, 'is_active invalid_type'],
  ['an unknown field', { ...hook, active: true }, 'active unknown_field'],
  ['two problems', { ...hook, url: 'http://example.com', name: 7 }, 'name invalid_type', 'url https_required'],
  ...unfitSecrets.map(
    (text): Refusal => [
      `the secret ${text.slice(0, 30)} of ${text.length} characters`,
      { ...hook, signing_secret: text },
      'signing_secret invalid_secret',
    ],
  ),
]
const shared = start()
const countStored = () => shared.webhooks.objects.length
testRefusals('POST /webhooks', refused, (body) => shared.call('POST', '/webhooks', body), countStored)

t.test('POST /webhooks takes public endpoints, also names that do not resolve', async (t) => {
  const { call } = start()
  for (const url of [
    'https://example.com/in?token=1',
    'https://does-not-resolve.example.com:8443/',
    `https://example.com/${'x'.repeat(2028)}`,
  ])
    t.match(await call('POST', '/webhooks', { ...hook, url }), { status: 201, body: { data: { url } } })
})

const targets: [url: string, code: string][] = [
  [`https://example.com/${'x'.repeat(2029)}`, 'too_big'],
  ['http://example.com/', 'https_required'],
  ['example.com', 'https_required'],
  ['https://', 'invalid_url'],
  ['https://user:secret@example.com/', 'credentials_in_url'],
  ['https://example.com/#top', 'fragment'],
  ['https://exa mple.com/', 'invalid_url'],
  ['https://127.0.0.1/', 'url_not_allowed'],
  ['https://kubernetes.default.svc/', 'url_not_allowed'],
  ['https://example.com:22/', 'url_not_allowed'],
]
const changed = await shared.create()
for (const [url, code] of targets) {
  t.test(`POST and PATCH /webhooks refuse ${url.slice(0, 50)} as ${code}`, async (t) => {
    const error = { code: code === 'url_not_allowed' ? 'URL_NOT_ALLOWED' : 'VALIDATION_ERROR', details: [{ path: 'url', code }] }
    const { call, newest } = shared
    for (const response of [await call('POST', '/webhooks', { ...hook, url }), await call('PATCH', changed.path, { url })]) {
      t.match(response, { status: 400, body: { error } })
      t.notMatch(JSON.stringify(response.body), /secret@/)
    }
    t.strictSame([countStored(), newest().spec.url], [1, hook.url])
  })
}

t.test('POST /webhooks takes private addresses that the settings open', async (t) => {
  const rules = { allowedCidrs: ['10.0.0.0/8'], allowedHosts: ['*.internal'], deniedCidrs: [], allowedPorts: [] }
  const { call } = start({ webhookRules: rules })
  const statusOf = async (url: string) => (await call('POST', '/webhooks', { ...hook, url })).status
  t.strictSame([await statusOf('https://10.1.2.3/'), await statusOf('https://hooks.internal/')], [201, 201])
  t.equal(await statusOf('https://192.168.0.1/'), 400)
})

t.test('GET /webhooks/:id returns delivery statistics', async (t) => {
  const { call, create, newest, webhooks, screenshots } = start()
  const { path } = await create()
  const none = { total_deliveries: 0, successful_deliveries: 0, failed_deliveries: 0, pending_deliveries: 0, missed_deliveries: 0 }
  t.strictSame((await call('GET', path)).body.data.statistics, {
    ...none,
    success_rate: null,
    average_response_time_ms: null,
    last_delivery_at: null,
    last_success_at: null,
    last_failure_at: null,
    last_status_code: null,
    consecutive_failures: 0,
  })
  const at = '2026-11-21T11:00:00.000Z'
  const statistics = {
    ...{ total: 7, successful: 4, failed: 2, lastStatusCode: 503, lastDeliveryTime: at, lastSuccessTime: at, lastFailureTime: at },
    ...{ consecutiveFailures: 3, answers: 3, answerMilliseconds: 1000 },
  }
  webhooks.change((webhook) => (webhook.status = { statistics }))
  const open = { [newest().metadata.name]: { attempts: 1, at, state: 'open' } } as const
  screenshots.put(aScreenshot({ status: { deliveries: { 'screenshot.queued': open, 'screenshot.completed': open } } }))
  const found = await call('GET', path)
  t.match(found.body.data.statistics, {
    total_deliveries: 8,
    pending_deliveries: 2,
    missed_deliveries: 0,
    success_rate: 66.67,
    average_response_time_ms: 333.33,
    last_failure_at: at,
    last_status_code: 503,
    consecutive_failures: 3,
  })
})

t.test('PATCH and PUT /webhooks/:id change what they name', async (t) => {
  const { call, create } = start()
  const { path } = await create({ description: 'x' })
  const limits = { name: 'n'.repeat(100), description: 'd'.repeat(500), url: 'https://hooks.example.com/other' }
  t.match(await call('PATCH', path, limits), { status: 200, body: { data: { ...hook, ...limits } } })
  t.match(await call('PUT', path, { name: `${limits.name}n` }), { status: 400, body: { error: { details: [{ path: 'name' }] } } })
  await call('PUT', path, { name: hook.name, url: hook.url })
  const changed = await call('PATCH', path, { is_active: false, description: null })
  t.match(changed, { status: 200, body: { message: /updated/, data: { ...hook, is_active: false, description: null } } })
  const events = ['screenshot.failed']
  t.match(await call('PUT', path, { events }), { status: 200, body: { data: { is_active: false, events } } })
})

t.test('POST /webhooks/:id/rotate-secret lets both secrets sign for the overlap', async (t) => {
  let now = NOW
  const { call, create, newest, open } = start({ now: () => now })
  const { record, path } = await create()
  const rotate = (body?: object) => call('POST', `${path}/rotate-secret`, body)
  const rotated = await rotate({ overlap_hours: 1 })
  const end = '2026-11-21T11:20:30.456Z'
  t.match(rotated, { status: 200, headers: { 'cache-control': 'private, no-store' } })
  t.strictSame(rotated.body.data.previous_secret_expires_at, end)
  t.strictSame([await open(), await open(1)], [rotated.body.data.signing_secret, record.signing_secret])
  t.equal(newest().spec.signingSecrets![1]!.expiryTime, end)
  t.match(await rotate(), { status: 409, body: { error: { code: 'ROTATION_IN_PROGRESS' } } })
  now = new Date(end)
  t.equal((await rotate()).status, 200, 'the first overlap is over')
  const forced = await rotate({ force: true, overlap_hours: 0 })
  t.equal(forced.body.data.previous_secret_expires_at, null)
  t.equal(newest().spec.signingSecrets!.length, 1)
})

t.test('POST /webhooks/:id/rotate-secret cannot keep a secret that is in a Kubernetes Secret beside a new one', async (t) => {
  const { call, create, webhooks } = start()
  const { path } = await create()
  webhooks.change(({ spec }) => delete spec.signingSecrets)
  t.match((await call('GET', path)).body.data, { signing_secret_hint: null })
  t.match(await call('POST', `${path}/rotate-secret`), { status: 409, body: { error: { code: 'CONFLICT' } } })
  t.equal((await call('POST', `${path}/rotate-secret`, { overlap_hours: 0 })).status, 200)
})

t.test('PATCH /webhooks/:id shows why an endpoint was switched off, and forgets it with a switch', async (t) => {
  const { call, create, newest, webhooks } = start()
  const { path } = await create()
  const disabled_reason = 'every post has failed'
  const metadata = { annotations: { 'tintype.dev/disabled-reason': disabled_reason } }
  await webhooks.patch(newest(), { metadata, spec: { active: false } })
  const patch = async (change: object) => (await call('PATCH', path, change)).body.data
  t.match(await patch({ name: 'still off' }), { is_active: false, disabled_reason })
  t.match(await patch({ is_active: true }), { is_active: true, disabled_reason: null })
  t.match(await patch({ is_active: false }), { is_active: false, disabled_reason: null })
})

const url = 'https://example.com/'
const webhook_url = 'https://me.example.com/in?token=1'
const ID = defaultWebhookId('acme')
const ROTATE = '/webhooks/default/rotate-secret'

t.test('POST /screenshots stores webhook_url and creates the default webhook', async (t) => {
  const { call, screenshots, webhooks } = aGateway()
  t.match(await call('POST', '/screenshots', { url, webhook_url, webhook_events: ['screenshot.failed'] }), { status: 202 })
  t.match(await call('POST', '/screenshots', { url, options: { webhook_url } }), { status: 202 })
  t.match(await call('POST', '/screenshots/batch', { urls: [url, url], webhook_url }), { status: 202 })
  t.strictSame(
    [...screenshots.objects.values()].map(({ spec }) => [spec.webhookUrl, spec.webhookEvents]),
    [[webhook_url, ['screenshot.failed']], ...Array.from({ length: 3 }, () => [webhook_url, undefined])],
  )
  t.match(webhooks.objects, [{ spec: { isDefault: true, accountName: 'acme', url: 'https://webhook-url.invalid/' } }])
  t.equal(webhooks.objects.length, 1)
})

const twice = ['screenshot.failed', 'screenshot.failed']
const refusedUrls: [name: string, body: object, problem: string, error?: string][] = [
  ['a private address', { webhook_url: 'https://10.0.0.1/' }, 'webhook_url url_not_allowed', 'URL_NOT_ALLOWED'],
  ['events alone', { webhook_events: ['screenshot.failed'] }, 'webhook_events required'],
  ['an event twice', { webhook_url, webhook_events: twice }, 'webhook_events[1] duplicate'],
  ['no events', { webhook_url, webhook_events: [] }, 'webhook_events too_small'],
]
const refusing = aGateway()
for (const [name, body, problem, code = 'VALIDATION_ERROR'] of refusedUrls) {
  t.test(`POST /screenshots and batches refuse a webhook_url with ${name}`, async (t) => {
    const { call, screenshots, webhooks } = refusing
    for (const response of [
      await call('POST', '/screenshots', { url, ...body }),
      await call('POST', '/screenshots/batch', { urls: [url], ...body }),
    ]) {
      t.match(response, { status: 400, body: { error: { code } } })
      t.strictSame(problemsIn(response), [problem])
    }
    t.strictSame([screenshots.objects.size, webhooks.objects.length], [0, 0])
  })
}

t.test('POST /screenshots takes a private webhook_url where the settings open it', async (t) => {
  const webhookRules = { allowedCidrs: ['10.0.0.0/8'], allowedHosts: [], deniedCidrs: [], allowedPorts: [] }
  const { call } = aGateway({ webhookRules })
  t.match(await call('POST', '/screenshots', { url, webhook_url: 'https://10.0.0.1/' }), { status: 202 })
})

t.test('POST /webhooks/default/rotate-secret returns a new secret, before or after the first request', async (t) => {
  const { call, webhooks } = aGateway()
  t.match(await call('GET', '/webhooks/default'), { status: 404 })
  const { status, headers, body } = await call('POST', ROTATE, { overlap_hours: 0 })
  t.match([status, headers['cache-control'], body.data.signing_secret], [200, 'private, no-store', /^whsec_/])
  const [stored] = webhooks.objects
  const sealedFor = { purpose: 'signing-secret', subject: stored!.metadata.name, account: 'acme' } as const
  t.equal(await unseal(stored!.spec.signingSecrets![0]!.sealed, sealedFor, [OPENING_KEY]), body.data.signing_secret)
  t.match(await call('GET', '/webhooks/default'), { status: 200, body: { data: { id: ID, is_default: true, statistics: {} } } })
  t.equal((await call('POST', ROTATE)).status, 200)
  t.match(await call('POST', `/webhooks/${ID}/rotate-secret`), { status: 409, body: { error: { code: 'ROTATION_IN_PROGRESS' } } })
})

t.test('the first rotation names no previous secret, because nobody had one; later ones do', async (t) => {
  const { call } = aGateway()
  await call('POST', '/screenshots', { url, webhook_url })
  const rotate = async () => (await call('POST', ROTATE)).body.data.previous_secret_expires_at
  t.equal(await rotate(), null)
  t.type(await rotate(), 'string')
})

t.test('the default webhook is like the others, but has no address of its own and takes no place', async (t) => {
  const { call } = aGateway({ maxWebhooks: 1 })
  await call('POST', ROTATE)
  const [endpoint, events] = ['https://hooks.example.com/in', ['screenshot.completed']]
  const created = await call('POST', '/webhooks', { name: 'orders', url: endpoint, events })
  t.match(created, { status: 201, body: { data: { is_default: false } } })
  t.match(listed(await call('GET', '/webhooks'), 'is_default'), [true, false])
  const changed = await call('PATCH', `/webhooks/${ID}`, { url: endpoint, events })
  t.match(changed, { status: 400, body: { error: { details: [{ path: 'url' }, { path: 'events' }] } } })
  t.match(await call('PATCH', `/webhooks/${ID}`, { is_active: false }), { status: 200, body: { data: { is_active: false } } })
  t.match(await call('DELETE', `/webhooks/${ID}`), { status: 204 })
})

t.test('POST /screenshots fails when another webhook has the name of the default one', async (t) => {
  const { call, webhooks } = aGateway()
  const spec = { accountName: 'mallory', isDefault: true, url: 'https://mallory.example.com/', events: ['screenshot.completed' as const] }
  await webhooks.create({ metadata: { name: ID.replace('_', '-') }, spec })
  t.match(await call('POST', '/screenshots', { url, webhook_url }), { status: 409, body: { error: { code: 'CONFLICT' } } })
})
