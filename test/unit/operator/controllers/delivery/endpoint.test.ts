import t from 'tap'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { accountKeyOf, endpointKeyOf, findEndpoint } from '../../../../../operator/src/controllers/delivery/endpoint.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'

const occurrence = { event: 'screenshot.completed', at: at(2) } as const
const webhookUrl = 'https://me.example.com:8443/in?x=1'
const shot = aScreenshot({ spec: { webhookUrl }, status: completedStatus() })
const signer = aWebhook({ name: 'signer', spec: { isDefault: true } })
const finder = (hook: Webhook | undefined, standard?: Webhook) => ({ findWebhook: () => hook, findDefaultWebhook: () => standard })

t.test('findEndpoint finds a webhook that receives the event', async (t) => {
  const hook = aWebhook()
  t.strictSame(findEndpoint(shot, occurrence, 'hook', finder(hook)), { url: hook.spec.url, webhook: hook })
  t.equal(findEndpoint(shot, occurrence, 'hook', finder(undefined)), undefined)
  t.equal(findEndpoint(shot, occurrence, 'hook', finder(aWebhook({ spec: { active: false } }))), undefined)
  const deleted = { deletionTimestamp: at(3).toISOString() }
  t.equal(findEndpoint(shot, occurrence, 'hook', finder(aWebhook({ metadata: deleted }))), undefined, 'a finalizer keeps it')
})

t.test('findEndpoint posts to the URL of the request, signed by the default webhook', async (t) => {
  t.strictSame(findEndpoint(shot, occurrence, '_request', finder(undefined, signer)), { url: webhookUrl, webhook: signer })
  t.equal(findEndpoint(aScreenshot(), occurrence, '_request', finder(undefined, signer)), undefined, 'it has no webhookUrl')
  t.equal(findEndpoint(shot, occurrence, '_request', finder(undefined)), undefined, 'there is no default webhook')
})

t.test('findEndpoint never posts to the default webhook itself', async (t) => {
  t.equal(findEndpoint(shot, occurrence, 'signer', finder(signer, signer)), undefined)
})

t.test('accountKeyOf is the same for all endpoints of an account', async (t) => {
  t.equal(accountKeyOf(shot), 'default/default')
  t.equal(accountKeyOf(aScreenshot({ spec: { webhookUrl, accountName: 'acme' } })), 'default/acme')
  t.equal(accountKeyOf(aWebhook({ spec: { accountName: 'acme' } })), 'default/acme')
})

t.test('endpointKeyOf distinguishes hosts and accounts', async (t) => {
  t.equal(endpointKeyOf(shot, 'hook'), 'default/hook')
  t.equal(endpointKeyOf(shot, '_request'), 'default/default/me.example.com:8443')
  t.equal(endpointKeyOf(aScreenshot({ spec: { webhookUrl, accountName: 'acme' } }), '_request'), 'default/acme/me.example.com:8443')
  t.equal(endpointKeyOf(aScreenshot({ spec: { webhookUrl: 'https://[' } }), '_request'), 'default/default/https://[')
})
