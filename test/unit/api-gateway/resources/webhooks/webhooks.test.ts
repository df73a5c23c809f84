import t from 'tap'
import { unseal } from '../../../../../crds/src/crypto/sealed.ts'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { calling } from '../../calling.ts'
import { aGateway, NOW, OPENING_KEY } from '../../fakes.ts'

type Gateway = ReturnType<typeof aGateway>

const hook = { name: 'orders', url: 'https://hooks.example.com/in', events: ['screenshot.completed'] }
const newest = ({ webhooks }: Gateway): Webhook => webhooks.objects.at(-1)!
const open = (webhook: Webhook, index = 0) =>
  unseal(webhook.spec.signingSecrets![index]!.sealed, { purpose: 'signing-secret', subject: webhook.metadata.name, account: 'acme' }, [
    OPENING_KEY,
  ])

t.test('POST /webhooks returns the documented record, and stores the secret sealed', async (t) => {
  const gateway = aGateway()
  const created = await calling(gateway)('POST', '/webhooks', { ...hook, description: 'all of them' })
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
  t.notMatch(JSON.stringify(newest(gateway)), secret.slice(6))
  t.equal(await open(newest(gateway)), secret)
  t.notMatch(JSON.stringify((await calling(gateway)('GET', `/webhooks/${record.id}`)).body), secret)
})

const secrets: { text: string; isTaken: boolean; hint?: string }[] = [
  { text: `whsec_${Buffer.alloc(24, 1).toString('base64')}`, isTaken: true, hint: 'whsec_…AQEB' },
  { text: `whsec_${Buffer.alloc(64, 1).toString('base64')}`, isTaken: true },
  { text: 'correct-horse-battery-staple', isTaken: true, hint: '…aple' },
  { text: `whsec_${Buffer.alloc(23, 1).toString('base64')}`, isTaken: false },
  { text: `whsec_${Buffer.alloc(65, 1).toString('base64')}`, isTaken: false },
  { text: 'whsec_this-is-not-base64-of-anything', isTaken: false },
  { text: 'x'.repeat(23), isTaken: false },
  { text: 'x'.repeat(65), isTaken: false },
  { text: 'correct horse battery staple', isTaken: false },
]
for (const { text, isTaken, hint } of secrets) {
  t.test(
    `POST /webhooks ${isTaken ? 'takes' : 'refuses'} the client’s own secret ${text.slice(0, 30)} of ${text.length} characters`,
    async (t) => {
      const gateway = aGateway()
      const created = await calling(gateway)('POST', '/webhooks', { ...hook, signing_secret: text })
      if (!isTaken)
        return t.match(created, { status: 400, body: { error: { details: [{ path: 'signing_secret', code: 'invalid_secret' }] } } })
      t.match(created, { status: 201, body: { data: { signing_secret: text, ...(hint ? { signing_secret_hint: hint } : {}) } } })
      t.equal(await open(newest(gateway)), text)
    },
  )
}

const targets: { url: string; code?: string }[] = [
  { url: 'https://example.com/in?token=1' },
  { url: 'https://does-not-resolve.example.com:8443/' },
  { url: `https://example.com/${'x'.repeat(2028)}` },
  { url: `https://example.com/${'x'.repeat(2029)}`, code: 'too_big' },
  { url: 'http://example.com/', code: 'https_required' },
  { url: 'ftp://example.com/', code: 'https_required' },
  { url: 'example.com', code: 'https_required' },
  { url: 'https://', code: 'invalid_url' },
  { url: 'https://user:secret@example.com/', code: 'credentials_in_url' },
  { url: 'https://example.com/#top', code: 'fragment' },
  { url: 'https://exa mple.com/', code: 'invalid_url' },
  { url: 'https://127.0.0.1/', code: 'url_not_allowed' },
  { url: 'https://0x7f.1/', code: 'url_not_allowed' },
  { url: 'https://[::ffff:10.0.0.1]/', code: 'url_not_allowed' },
  { url: 'https://169.254.169.254/latest', code: 'url_not_allowed' },
  { url: 'https://localhost/', code: 'url_not_allowed' },
  { url: 'https://kubernetes.default.svc/', code: 'url_not_allowed' },
  { url: 'https://example.com:22/', code: 'url_not_allowed' },
]
for (const { url, code } of targets) {
  t.test(`POST /webhooks ${code ? `refuses (${code})` : 'takes'} ${url.slice(0, 50)}`, async (t) => {
    const gateway = aGateway()
    const response = await calling(gateway)('POST', '/webhooks', { ...hook, url })
    if (code === undefined) return t.match(response, { status: 201, body: { data: { url } } })
    const error = code === 'url_not_allowed' ? 'URL_NOT_ALLOWED' : 'VALIDATION_ERROR'
    t.match(response, { status: 400, body: { error: { code: error, details: [{ path: 'url', code }] } } })
    t.notMatch(JSON.stringify(response.body), /secret@/)
    t.equal(gateway.webhooks.objects.length, 0)
  })
}

t.test('POST /webhooks takes private addresses that the settings open', async (t) => {
  const rules = { allowedCidrs: ['10.0.0.0/8'], allowedHosts: ['*.internal'], deniedCidrs: [], allowedPorts: [] }
  const call = calling(aGateway({ webhookRules: rules }))
  for (const url of ['https://10.1.2.3/', 'https://hooks.internal/'])
    t.equal((await call('POST', '/webhooks', { ...hook, url })).status, 201)
  t.equal((await call('POST', '/webhooks', { ...hook, url: 'https://192.168.0.1/' })).status, 400)
})

const bodies: { name: string; body: unknown; details: string[] }[] = [
  { name: 'no body', body: undefined, details: [' required'] },
  { name: 'nothing', body: {}, details: ['events required', 'name required', 'url required'] },
  { name: 'no events', body: { ...hook, events: [] }, details: ['events too_small'] },
  { name: 'an unknown event', body: { ...hook, events: ['*'] }, details: ['events[0] invalid_value'] },
  { name: 'an event twice', body: { ...hook, events: ['video.failed', 'video.failed'] }, details: ['events[1] duplicate'] },
  { name: 'a long name', body: { ...hook, name: 'x'.repeat(101) }, details: ['name too_big'] },
  { name: 'a name of blanks', body: { ...hook, name: ' \t ' }, details: ['name invalid_value'] },
  { name: 'a name of invisible characters', body: { ...hook, name: '\u200b\u00a0\u3164\ufe0f' }, details: ['name invalid_value'] },
  { name: 'a long description', body: { ...hook, description: 'x'.repeat(501) }, details: ['description too_big'] },
  { name: 'a text for is_active', body: { ...hook, is_active: 'true' }, details: ['is_active invalid_type'] },
  { name: 'an unknown field', body: { ...hook, active: true }, details: ['active unknown_field'] },
  { name: 'two problems', body: { ...hook, url: 'http://example.com', name: 7 }, details: ['name invalid_type', 'url https_required'] },
]
for (const { name, body, details } of bodies) {
  t.test(`POST /webhooks refuses ${name}`, async (t) => {
    const response = await calling(aGateway())('POST', '/webhooks', body)
    t.match(response, { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
    const told = response.body.error.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`)
    t.strictSame(told.sort(), details)
  })
}

t.test('POST /webhooks enforces the maximum webhooks per account', async (t) => {
  const call = calling(aGateway({ maxWebhooks: 1 }))
  t.equal((await call('POST', '/webhooks', hook)).status, 201)
  t.match(await call('POST', '/webhooks', hook), { status: 409, body: { error: { code: 'LIMIT_REACHED', details: { limit: 1 } } } })
})

t.test('GET /webhooks lists the account’s webhooks oldest first, inactive ones only on request', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  for (const [name, is_active] of [
    ['one', true],
    ['off', false],
    ['two', true],
  ])
    await call('POST', '/webhooks', { ...hook, name, is_active })
  gateway.webhooks.objects.push({ ...newest(gateway), spec: { ...newest(gateway).spec, accountName: 'other' } })
  const names = async (query: string) => (await call('GET', `/webhooks${query}`)).body.data.map(({ name }: { name: string }) => name)
  t.strictSame(await names(''), ['one', 'two'])
  t.strictSame(await names('?include_inactive=true&offset=1'), ['off', 'two'])
  const { body } = await call('GET', '/webhooks?limit=1')
  t.match(body, { success: true, pagination: { limit: 1, offset: 0, total: 2, has_more: true } })
  t.notMatch(JSON.stringify(body), /"signing_secret"|sealed/)
})

t.test('GET /webhooks/:id returns delivery statistics', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('POST', '/webhooks', hook)).body.data
  t.strictSame((await call('GET', `/webhooks/${id}`)).body.data.statistics, {
    total_deliveries: 0,
    successful_deliveries: 0,
    failed_deliveries: 0,
    pending_deliveries: 0,
    missed_deliveries: 0,
    success_rate: null,
    average_response_time_ms: null,
    last_delivery_at: null,
    last_success_at: null,
    last_failure_at: null,
    last_status_code: null,
    consecutive_failures: 0,
  })
  const at = '2026-11-21T11:00:00.000Z'
  newest(gateway).status = {
    statistics: {
      ...{ total: 7, successful: 4, failed: 2, lastStatusCode: 503, lastDeliveryTime: at, lastSuccessTime: at, lastFailureTime: at },
      ...{ consecutiveFailures: 3, answers: 3, answerMilliseconds: 1000 },
    },
  }
  gateway.screenshots.openDeliveries.set(`acme/${newest(gateway).metadata.name}`, 1)
  const found = await call('GET', `/webhooks/${id}`)
  t.match(found.body.data.statistics, {
    pending_deliveries: 1,
    missed_deliveries: 0,
    success_rate: 66.67,
    average_response_time_ms: 333.33,
    last_failure_at: at,
    last_status_code: 503,
    consecutive_failures: 3,
  })
  t.equal((await call('GET', `/webhooks/${id}`, undefined, { 'if-none-match': String(found.headers.etag) })).status, 304)
})

t.test('PATCH and PUT /webhooks/:id change what they name', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const created = await call('POST', '/webhooks', { ...hook, description: 'x' })
  const path = `/webhooks/${created.body.data.id}`
  const changed = await call('PATCH', path, { is_active: false, description: null })
  t.match(changed, { status: 200, body: { message: /updated/, data: { ...hook, is_active: false, description: null } } })
  t.match(await call('PUT', path, { events: ['screenshot.failed'] }), {
    status: 200,
    body: { data: { is_active: false, events: ['screenshot.failed'] } },
  })
  t.match(await call('PUT', path, {}), { status: 400, body: { error: { details: [{ code: 'empty' }] } } })
  t.match(await call('PATCH', path, { url: 'http://example.com' }), {
    status: 400,
    body: { error: { details: [{ code: 'https_required' }] } },
  })
  t.equal((await call('PATCH', path, { name: 'x' }, { 'if-match': String(created.headers.etag) })).status, 412)
  t.equal((await call('PATCH', path, { name: 'x' }, { 'if-match': '*' })).status, 200)
  t.equal((await call('PATCH', '/webhooks/wh_x', { name: 'x' })).status, 404)
})

t.test('DELETE /webhooks/:id ends it, once', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('POST', '/webhooks', hook)).body.data
  t.match(await call('DELETE', `/webhooks/${id}`), { status: 204, body: undefined })
  for (const method of ['GET', 'DELETE']) t.equal((await call(method, `/webhooks/${id}`)).status, 404)
})

t.test('POST /webhooks/:id/rotate-secret lets both secrets sign for the overlap', async (t) => {
  let now = NOW
  const gateway = aGateway({ now: () => now })
  const call = calling(gateway)
  const { id, signing_secret: first } = (await call('POST', '/webhooks', hook)).body.data
  const path = `/webhooks/${id}/rotate-secret`
  const rotated = await call('POST', path, { overlap_hours: 1 })
  const end = '2026-11-21T11:20:30.456Z'
  t.match(rotated, { status: 200, headers: { 'cache-control': 'private, no-store' } })
  t.strictSame(rotated.body.data.previous_secret_expires_at, end)
  t.strictSame([await open(newest(gateway)), await open(newest(gateway), 1)], [rotated.body.data.signing_secret, first])
  t.equal(newest(gateway).spec.signingSecrets![1]!.expiryTime, end)
  t.match(await call('POST', path), { status: 409, body: { error: { code: 'ROTATION_IN_PROGRESS' } } })
  now = new Date(end)
  t.equal((await call('POST', path)).status, 200, 'the first overlap is over')
  const forced = await call('POST', path, { force: true, overlap_hours: 0 })
  t.equal(forced.body.data.previous_secret_expires_at, null)
  t.equal(newest(gateway).spec.signingSecrets!.length, 1)
})

t.test('POST /webhooks/:id/rotate-secret cannot keep a secret that is in a Kubernetes Secret beside a new one', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('POST', '/webhooks', hook)).body.data
  delete newest(gateway).spec.signingSecrets
  t.match(await call('POST', `/webhooks/${id}/rotate-secret`), { status: 409, body: { error: { code: 'CONFLICT' } } })
  t.equal((await call('POST', `/webhooks/${id}/rotate-secret`, { overlap_hours: 0 })).status, 200)
})

t.test('POST /webhooks under an Idempotency-Key makes one webhook and shows its secret once', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const once = { 'idempotency-key': 'k1' }
  const first = await call('POST', '/webhooks', hook, once)
  await call('DELETE', `/webhooks/${first.body.data.id}`)
  const again = await call('POST', '/webhooks', hook, once)
  const { signing_secret: _, ...record } = first.body.data
  t.match(again, { status: 201, headers: { 'idempotent-replayed': 'true' } })
  t.strictSame(again.body.data, record, 'also when it is gone')
  t.equal(gateway.webhooks.objects.length, 0)
})

t.test('PATCH /webhooks/:id shows why an endpoint was switched off, and forgets it with a switch', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  const { id } = (await call('POST', '/webhooks', hook)).body.data
  await gateway.webhooks.patch(newest(gateway), {
    metadata: { annotations: { 'tintype.dev/disabled-reason': 'every post has failed' } },
    spec: { active: false },
  })
  t.match((await call('PATCH', `/webhooks/${id}`, { name: 'still off' })).body.data, {
    is_active: false,
    disabled_reason: 'every post has failed',
  })
  t.match((await call('PATCH', `/webhooks/${id}`, { is_active: true })).body.data, { is_active: true, disabled_reason: null })
  t.match((await call('PATCH', `/webhooks/${id}`, { is_active: false })).body.data, { is_active: false, disabled_reason: null })
})
