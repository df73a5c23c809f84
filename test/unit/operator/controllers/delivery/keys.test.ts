import t from 'tap'
import { parseOpenKey } from '../../../../../crds/src/records/storage-keys.ts'
import { openKey, openPrefixOf, parseUndelivered } from '../../../../../crds/src/webhooks/undelivered.ts'
import { accountKeyOf, endpointKeyOf } from '../../../../../operator/src/controllers/delivery/endpoint.ts'
import { toUndelivered } from '../../../../../operator/src/controllers/delivery/undelivered/hand-over.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'

const webhookUrl = 'https://me.example.com:8443/in?x=1'
const shot = aScreenshot({ spec: { webhookUrl }, status: completedStatus() })

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

t.test('keys of open deliveries name the account, the endpoint and the second at which an attempt is due', async (t) => {
  const finder = { findWebhook: () => aWebhook(), findDefaultWebhook: () => aWebhook({ spec: { isDefault: true } }) }
  const open = { event: 'screenshot.completed', attempts: 1, at: at(60).toISOString() } as const
  const [hooked] = toUndelivered(shot, { ...open, webhook: 'hook' }, finder)
  const [requested] = toUndelivered(shot, { ...open, webhook: '_request' }, finder)
  const key = openKey('acme', hooked!)
  t.equal(key, `undelivered/open/acme/hook/${at(60).getTime() / 1_000}.${hooked!.delivery}`)
  t.strictSame(parseOpenKey(key), { prefix: 'undelivered/open/acme/hook/', account: 'acme', at: at(60) })
  t.ok(openKey('acme', requested!).startsWith(openPrefixOf('acme', '_request')))
  t.not(openKey('acme', { ...requested!, url: 'https://other.example.com/' }).split('/')[3], openKey('acme', requested!).split('/')[3])
  for (const other of ['undelivered/open/a/hook/1.dlv_1', `undelivered/open/-/hook/0000000001.${hooked!.delivery}`, 'x'])
    t.equal(parseOpenKey(other), undefined)
  t.strictSame(parseUndelivered(JSON.stringify(requested)), requested)
  t.equal(parseUndelivered('{"version":2}'), undefined)
  t.strictSame(toUndelivered(shot, { ...open, webhook: 'gone' }, { ...finder, findWebhook: () => undefined }), [])
})
