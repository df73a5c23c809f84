import t from 'tap'
import { findRunRefusal, type Scheduled, toRunPolicy } from '../../../../crds/src/policies/runs.ts'

const keyId = 'key_1'
const url = 'https://example.com/'
const hosts = { allowedHosts: ['example.com'] }

const reasonOf = (template: Partial<Scheduled['spec']['template']>, current?: object, more: Partial<Scheduled> = {}) =>
  findRunRefusal({ spec: { template: { url, ...template } }, ...more }, current)?.reason

t.test('a run is refused by the policy of the schedule, and by the one that its key has now', async (t) => {
  t.equal(reasonOf({ capturePolicy: { keyId } }), undefined)
  t.equal(reasonOf({ capturePolicy: { keyId, ...hosts } }, hosts), undefined)
  t.equal(reasonOf({ capturePolicy: { keyId, allowedHosts: [] } }), 'UrlNotAllowed')
  t.equal(reasonOf({ capturePolicy: { keyId } }, { allowedHosts: [] }), 'UrlNotAllowed')
  t.equal(reasonOf({ capturePolicy: { keyId, allowedOptions: [] }, options: { fullPage: true } }), 'OptionNotAllowed')
  t.equal(reasonOf({ capturePolicy: { keyId }, options: { scripts: 'a' } }, hosts), 'OptionNotAllowed')
  t.equal(reasonOf({ options: { scripts: 'a' } }, { allowedHosts: [] }), undefined, 'a schedule without a key, as kubectl makes it')
})

t.test('options that a schedule does not show count by their names', async (t) => {
  const capturePolicy = { keyId, allowedOptions: ['fullPage'] }
  t.equal(reasonOf({ capturePolicy, hiddenOptions: ['headers'] }), 'OptionNotAllowed')
  t.equal(reasonOf({ capturePolicy, webhookUrl: 'https://hooks.example/' }), 'OptionNotAllowed')
  t.equal(reasonOf({ capturePolicy, privateOptionsSecretRef: { name: 'secret' } }), 'OptionNotAllowed')
  t.equal(reasonOf({ capturePolicy }, undefined, { metadata: { leftOut: { html: '…' } } }), 'OptionNotAllowed', 'what a cache leaves out')
  t.equal(findRunRefusal({ spec: { template: { url, capturePolicy }, comparison: {} } }, undefined)?.reason, 'OptionNotAllowed')
  t.equal(reasonOf({ capturePolicy, options: { fullPage: true } }), undefined)
})

t.test('a run keeps the hosts that both policies allow', async (t) => {
  t.equal(toRunPolicy(undefined, hosts), undefined)
  t.equal(toRunPolicy({ keyId, allowedOptions: [] }, undefined), undefined)
  t.strictSame(toRunPolicy({ keyId, allowedHosts: ['*.com', 'example.com'] }, hosts), { keyId, ...hosts })
  t.strictSame(toRunPolicy({ keyId }, { allowedRequestHosts: ['a.example'] }), { keyId, allowedRequestHosts: ['a.example'] })
  t.strictSame(toRunPolicy({ keyId, ...hosts }, { allowedRequestHosts: ['a.example'] }), {
    keyId,
    ...hosts,
    allowedRequestHosts: ['a.example'],
  })
})

t.test('two policies that together have more hosts than a Screenshot can keep create no run', async (t) => {
  const names = (domain: string) => Array.from({ length: 63 }, (_, index) => `h${index}.${domain}`)
  const capturePolicy = { keyId, allowedHosts: ['*.a.example', ...names('b.example')] }
  const current = { allowedHosts: ['*.b.example', ...names('a.example')] }
  t.equal(reasonOf({ url: 'https://h1.b.example/', capturePolicy }, current), 'PolicyTooLarge')
})
