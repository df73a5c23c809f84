import t from 'tap'
import { unseal } from '../../../../../crds/src/crypto/sealed.ts'
import { defaultWebhookId } from '../../../../../crds/src/webhooks/deliveries.ts'
import { aGateway, OPENING_KEY } from '../../fakes.ts'
import { listed, problemsIn } from '../../requests.ts'

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
const refused: [name: string, body: object, problem: string, error?: string][] = [
  ['a private address', { webhook_url: 'https://10.0.0.1/' }, 'webhook_url url_not_allowed', 'URL_NOT_ALLOWED'],
  ['events alone', { webhook_events: ['screenshot.failed'] }, 'webhook_events required'],
  ['an event twice', { webhook_url, webhook_events: twice }, 'webhook_events[1] duplicate'],
  ['no events', { webhook_url, webhook_events: [] }, 'webhook_events too_small'],
]
const shared = aGateway()
for (const [name, body, problem, code = 'VALIDATION_ERROR'] of refused) {
  t.test(`POST /screenshots and batches refuse a webhook_url with ${name}`, async (t) => {
    const { call, screenshots, webhooks } = shared
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
