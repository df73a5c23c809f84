import t from 'tap'
import { type Secret, secrets } from '../../../crds/client/core-resources.ts'
import { accounts, apiKeys, screenshots, webhooks } from '../../../crds/client/kinds.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { type NewObject, Resource } from '../../../crds/client/resource.ts'
import type { ApiKey } from '../../../crds/src/kinds/api-key.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import { eventually } from '../../support/eventually.ts'
import { installRelease, NAMESPACE } from './release.ts'

// Confused-deputy attacks on trusted fields, on a real API server: a user who may create objects for their own account copies data of
// another account into them. Each attack has a control: the same object created by the gateway, or without the copied data.

const release = await installRelease(t)
const adminAccounts = new Resource(release.admin, accounts)
for (const name of ['default', 'acme', 'other']) await adminAccounts.create({ metadata: { name }, spec: { plan: 'free' } })
const kinds = ['screenshots', 'webhooks', 'apikeys']
await release.permit('eve', 'write-eve', { resources: kinds, verbs: ['create', 'get', 'update', 'patch', 'delete'] })
await release.permit('eve', 'use-eve', { resources: ['accounts'], resourceNames: ['acme'], verbs: ['use'] })
const eve = await release.asUser('eve')
const shots = new Resource(eve, screenshots)
const hooks = new Resource(eve, webhooks)
const keys = new Resource(eve, apiKeys)
const { http: gateway } = await release.asPod('tintype-api-gateway', 'gateway-1')

const url = 'https://example.com/'
const stolen = 'eyJhbGciOiJFQ0RILUVTIn0..a.b.c'
const hookSpec = { url, accountName: 'acme', events: ['screenshot.completed' as const] }
let names = 0
const aShot = (spec: Partial<ScreenshotSpec> = {}) =>
  ({ metadata: { name: `shot-${++names}` }, spec: { url, accountName: 'acme', ...spec } }) as NewObject<Screenshot>
const aKey = (spec: Partial<ApiKey['spec']> = {}, labels: Record<string, string> = {}) =>
  ({ metadata: { name: `key-${++names}`, labels }, spec: { accountName: 'acme', ...spec } }) as NewObject<ApiKey>
const aHook = (spec: Partial<Webhook['spec']> = {}) =>
  ({ metadata: { name: `hook-${++names}` }, spec: { ...hookSpec, ...spec } }) as NewObject<Webhook>
const refused = (what: string) => ({ status: 403, message: new RegExp(what) })

await eventually('the policy is in force', async () => {
  const made = await shots.create(aShot({ accountName: 'other' })).catch((error: unknown) => error)
  return made instanceof Error && made.message.includes('not allowed to use')
})

t.test('control: eve may set untrusted fields', async (t) => {
  t.ok(await shots.create(aShot({ externalIdentifier: 'mine', options: { delay: 5 } })))
  t.ok(await hooks.create(aHook()))
  t.ok(await keys.create(aKey({ scopes: ['screenshots:read'] })))
})

const attacks: [string, Partial<ScreenshotSpec>][] = [
  ['a sealed text of another Screenshot', { sealedOptions: stolen }],
  ['the large options of another account', { optionsObject: 'options/other/scr-1.jwe' }],
  ['a picture of the cache', { cachedFrom: 'a'.repeat(64) }],
  ['a place in the cache', { cacheAs: 'a'.repeat(64) }],
  ['a reservation that another account paid for', { reservation: 'res_1' }],
  ['names of options that were not given', { hiddenOptions: ['cookies'] }],
  ['a picture of a schedule', { baseline: { key: 'baselines/other/1/scr_1.png', etag: 'a' } }],
]
for (const [what, spec] of attacks) {
  const field = Object.keys(spec).join()
  t.test(`policy rejects ${what} (${field}) for all but the gateway`, async (t) => {
    await t.rejects(shots.create(aShot(spec)), refused(`only the gateway may set ${field}`))
    await t.rejects(new Resource(release.admin, screenshots).create(aShot(spec)), refused(field), 'not even an administrator')
    t.ok(await new Resource(gateway, screenshots).create(aShot(spec)), 'control: the gateway')
  })
}

t.test('policy rejects a signing secret that was sealed for another webhook', async (t) => {
  const signingSecrets = [{ sealed: stolen }]
  await t.rejects(hooks.create(aHook({ signingSecrets })), refused('only the gateway may set signingSecrets'))
  const own = await hooks.create(aHook())
  await t.rejects(hooks.patch(own.metadata.name, mergePatch({ spec: { signingSecrets } })), refused('signingSecrets'))
})

t.test('policy lets users change a webhook whose secrets the gateway has set, except the secrets', async (t) => {
  const { metadata } = await new Resource(gateway, webhooks).create(aHook({ signingSecrets: [{ sealed: stolen }] }))
  t.match(await hooks.patch(metadata.name, mergePatch({ spec: { active: false } })), { spec: { active: false } })
  await t.rejects(hooks.patch(metadata.name, mergePatch({ spec: { signingSecrets: [{ sealed: 'x' }] } })), refused('signingSecrets'))
})

t.test('policy lets users set the link fields of keys of their own account only', async (t) => {
  const links = {
    linkSecret: { version: 2 },
    linkPolicy: { allowedHosts: ['example.com'], allowedOptions: ['viewportWidth'], allowOwnMarkup: false },
  }
  t.match((await keys.create(aKey(links))).spec, links)
  await t.rejects(keys.create(aKey({ ...links, accountName: 'other' })), refused('not allowed to use the account other'))
})

t.test('policy rejects the hash of a key of another account, whose holder would act for eve’s account', async (t) => {
  for (const label of ['tintype.dev/hash-1', 'tintype.dev/hash-2']) {
    await t.rejects(keys.create(aKey({}, { [label]: 'copied' })), refused(label))
    const { metadata } = await keys.create(aKey())
    await t.rejects(keys.patch(metadata.name, mergePatch({ metadata: { labels: { [label]: 'copied' } } })), refused(label))
    t.ok(await keys.patch(metadata.name, mergePatch({ metadata: { labels: { team: 'red' } } })), 'control: another label')
    t.ok(await new Resource(gateway, apiKeys).create(aKey({}, { [label]: 'own' })), 'control: the gateway')
  }
})

t.test('policy rejects a Secret that the user may not read', async (t) => {
  const privateOptionsSecretRef = { name: 'sign-in' }
  await t.rejects(shots.create(aShot({ privateOptionsSecretRef })), refused('not allowed to read the Secret sign-in'))
  await t.rejects(keys.create(aKey({ existingSecret: 'their-key' })), refused('not allowed to read the Secret their-key'))
  await release.admin.request({
    method: 'POST',
    path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`,
    body: {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['sign-in'], verbs: ['get'] }],
    },
  })
  await release.admin.request({
    method: 'POST',
    path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`,
    body: {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    },
  })
  await new Resource<Secret>(release.admin, secrets).create({
    metadata: { name: 'sign-in' },
    type: 'tintype.dev/private-options',
    data: {},
  })
  const made = () => shots.create(aShot({ privateOptionsSecretRef })).catch(() => false)
  t.ok(await eventually('the role is in force', made), 'control: a user who may read it')
  await t.rejects(shots.create(aShot({ privateOptionsSecretRef: { name: 'other' } })), refused('not allowed to read the Secret other'))
})

t.test('policy rejects a request to delete a Screenshot of another account by annotation', async (t) => {
  const mark = mergePatch({ metadata: { annotations: { 'tintype.dev/delete-requested': 'now' } } })
  const theirs = await new Resource(gateway, screenshots).create(aShot({ accountName: 'other' }))
  await t.rejects(shots.patch(theirs.metadata.name, mark), refused('not allowed to use the account other'))
  const own = await shots.create(aShot())
  t.ok(await shots.patch(own.metadata.name, mark), 'control: the user’s own account')
})

t.test('the schema rejects unencrypted private options from any user', async (t) => {
  for (const options of [{ authorization: 'Bearer x' }, { cookies: [] }, { headers: {} }, { basicAuthPassword: 'x' }]) {
    const body = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Screenshot', ...aShot(), spec: { url, accountName: 'acme', options } }
    const path = `/apis/tintype.dev/v1alpha1/namespaces/${NAMESPACE}/screenshots`
    const query = { fieldValidation: 'Strict' }
    await t.rejects(
      eve.request({ method: 'POST', path, body, query }),
      { message: /unknown field "spec.options/ },
      Object.keys(options).join(),
    )
  }
  await t.rejects(shots.create(aShot({ url: 'https://user:password@example.com/' })), { status: 422, message: /spec.url/ })
})
