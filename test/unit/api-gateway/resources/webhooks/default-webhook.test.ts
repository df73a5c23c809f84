import t from 'tap'
import { unseal } from '../../../../../crds/src/crypto/sealed.ts'
import { defaultWebhookId } from '../../../../../crds/src/webhooks/request-webhook.ts'
import { calling } from '../../calling.ts'
import { aGateway, OPENING_KEY } from '../../fakes.ts'

const url = 'https://example.com/'
const webhook_url = 'https://me.example.com/in?token=1'
const ID = defaultWebhookId('acme')

t.test('POST /screenshots stores webhook_url and creates the default webhook', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  t.match(await call('POST', '/screenshots', { url, webhook_url, webhook_events: ['screenshot.failed'] }), { status: 202 })
  t.match(await call('POST', '/screenshots', { url, options: { webhook_url } }), { status: 202 })
  t.match(await call('POST', '/screenshots/batch', { urls: [url, url], webhook_url }), { status: 202 })
  t.strictSame(
    [...gateway.screenshots.objects.values()].map(({ spec }) => [spec.webhookUrl, spec.webhookEvents]),
    [[webhook_url, ['screenshot.failed']], ...Array.from({ length: 3 }, () => [webhook_url, undefined])],
  )
  t.match(gateway.webhooks.objects, [{ spec: { isDefault: true, accountName: 'acme', url: 'https://webhook-url.invalid/' } }])
  t.equal(gateway.webhooks.objects.length, 1)
})

const refused: { name: string; body: object; error: string; path: string; code: string }[] = [
  { name: 'http', body: { webhook_url: 'http://me.example.com/' }, error: 'VALIDATION_ERROR', path: 'webhook_url', code: 'https_required' },
  {
    name: 'a private address',
    body: { webhook_url: 'https://10.0.0.1/' },
    error: 'URL_NOT_ALLOWED',
    path: 'webhook_url',
    code: 'url_not_allowed',
  },
  {
    name: 'a name of the cluster',
    body: { webhook_url: 'https://a.b.svc/' },
    error: 'URL_NOT_ALLOWED',
    path: 'webhook_url',
    code: 'url_not_allowed',
  },
  {
    name: 'credentials',
    body: { webhook_url: 'https://a:b@example.com/' },
    error: 'VALIDATION_ERROR',
    path: 'webhook_url',
    code: 'credentials_in_url',
  },
  {
    name: 'events alone',
    body: { webhook_events: ['screenshot.failed'] },
    error: 'VALIDATION_ERROR',
    path: 'webhook_events',
    code: 'required',
  },
  {
    name: 'an event twice',
    body: { webhook_url, webhook_events: ['screenshot.failed', 'screenshot.failed'] },
    error: 'VALIDATION_ERROR',
    path: 'webhook_events[1]',
    code: 'duplicate',
  },
  { name: 'no events', body: { webhook_url, webhook_events: [] }, error: 'VALIDATION_ERROR', path: 'webhook_events', code: 'too_small' },
]
for (const { name, body, error, path, code } of refused) {
  t.test(`POST /screenshots and batches refuse a webhook_url with ${name}`, async (t) => {
    const gateway = aGateway()
    const call = calling(gateway)
    const wanted = { status: 400, body: { error: { code: error, details: [{ path, code }] } } }
    t.match(await call('POST', '/screenshots', { url, ...body }), wanted)
    t.match(await call('POST', '/screenshots/batch', { urls: [url], ...body }), wanted)
    t.strictSame([gateway.screenshots.objects.size, gateway.webhooks.objects.length], [0, 0])
  })
}

t.test('POST /screenshots takes a private webhook_url where the settings open it', async (t) => {
  const webhookRules = { allowedCidrs: ['10.0.0.0/8'], allowedHosts: [], deniedCidrs: [], allowedPorts: [] }
  const call = calling(aGateway({ webhookRules }))
  t.match(await call('POST', '/screenshots', { url, webhook_url: 'https://10.0.0.1/' }), { status: 202 })
})

t.test('POST /webhooks/default/rotate-secret returns a new secret, before or after the first request', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  t.match(await call('GET', '/webhooks/default'), { status: 404 })
  const { status, headers, body } = await call('POST', '/webhooks/default/rotate-secret', { overlap_hours: 0 })
  t.match([status, headers['cache-control'], body.data.signing_secret], [200, 'private, no-store', /^whsec_/])
  const [stored] = gateway.webhooks.objects
  const sealedFor = { purpose: 'signing-secret', subject: stored!.metadata.name, account: 'acme' } as const
  t.equal(await unseal(stored!.spec.signingSecrets![0]!.sealed, sealedFor, [OPENING_KEY]), body.data.signing_secret)
  t.match(await call('GET', '/webhooks/default'), { status: 200, body: { data: { id: ID, is_default: true, statistics: {} } } })
  t.match(await call('POST', '/webhooks/default/rotate-secret'), { status: 200 })
  t.match(await call('POST', `/webhooks/${ID}/rotate-secret`), { status: 409, body: { error: { code: 'ROTATION_IN_PROGRESS' } } })
})

t.test('the first rotation names no previous secret, because nobody had one; later ones do', async (t) => {
  const gateway = aGateway()
  const call = calling(gateway)
  await call('POST', '/screenshots', { url, webhook_url: 'https://hooks.example.com/in' })
  const rotate = async () => (await call('POST', '/webhooks/default/rotate-secret')).body.data.previous_secret_expires_at
  t.equal(await rotate(), null)
  t.type(await rotate(), 'string')
})

t.test('the default webhook is like the others, but has no address of its own and takes no place', async (t) => {
  const gateway = aGateway({ maxWebhooks: 1 })
  const call = calling(gateway)
  await call('POST', '/webhooks/default/rotate-secret')
  const hook = { name: 'orders', url: 'https://hooks.example.com/in', events: ['screenshot.completed'] }
  t.match(await call('POST', '/webhooks', hook), { status: 201, body: { data: { is_default: false } } })
  t.match(
    (await call('GET', '/webhooks')).body.data.map(({ is_default }: { is_default: boolean }) => is_default),
    [true, false],
  )
  t.match(await call('PATCH', `/webhooks/${ID}`, { url: hook.url, events: hook.events }), {
    status: 400,
    body: { error: { details: [{ path: 'url' }, { path: 'events' }] } },
  })
  t.match(await call('PATCH', `/webhooks/${ID}`, { is_active: false }), { status: 200, body: { data: { is_active: false } } })
  t.match(await call('DELETE', `/webhooks/${ID}`), { status: 204 })
})

t.test('POST /screenshots fails when another webhook has the name of the default one', async (t) => {
  const gateway = aGateway()
  await gateway.webhooks.create({
    metadata: { name: ID.replace('_', '-') },
    spec: { accountName: 'mallory', isDefault: true, url: 'https://mallory.example.com/', events: ['screenshot.completed'] },
  })
  t.match(await calling(gateway)('POST', '/screenshots', { url, webhook_url }), { status: 409, body: { error: { code: 'CONFLICT' } } })
})
