import t from 'tap'
import { apiKeys, namespaces, type Secret, screenshotSchedules, screenshots, secrets, webhooks } from '../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import { type JsonPatchOperation, jsonPatch, mergePatch, type NewObject, type Patch, Resource } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { ApiKey } from '../../../crds/src/kinds/api-key.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import type { ScheduleTemplate } from '../../../crds/src/kinds/screenshot-schedule.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import { CODE_OPTIONS } from '../../../crds/src/options/policy.ts'
import { eventually } from '../../support/eventually.ts'
import { installRelease, NAMESPACE, whenInForce } from './release.ts'

// Tests who may create objects for an account and who may write their status, on a real API server with the chart's roles and policies.

const release = await installRelease(t)
await release.createAccounts('default', 'acme', 'other')

const url = 'https://example.com/'
const ELSEWHERE = `${NAMESPACE}-elsewhere`
const ann = await release.asWriter('ann', ['acme'])
const bob = await release.asWriter('bob', ['default'])
const { http: gateway } = await release.asPod('tintype-api-gateway', 'gateway-1')
const shots = new Resource(ann, screenshots)
const schedules = new Resource(ann, screenshotSchedules)
const hooks = new Resource(ann, webhooks)
const keys = new Resource(ann, apiKeys)
const hook = { url, events: ['screenshot.completed' as const] }
const refused = (account: string) => ({
  status: 403,
  message: new RegExp(`not allowed to use the account ${account}\\. Ask for the verb use on accounts/${account}`),
})

await whenInForce(() => shots.create({ metadata: { name: `probe-${Date.now()}` }, spec: { url, accountName: 'other' } }))

const accountName = 'acme'
/** The four kinds as ann writes them, and the spec of one object. */
const ownKinds = [
  { kind: shots, spec: { url, accountName } },
  { kind: schedules, spec: { schedule: '@daily', template: { url }, accountName } },
  { kind: hooks, spec: { ...hook, accountName } },
  { kind: keys, spec: { accountName } },
] as unknown as { kind: Resource<KubeObject>; spec: object }[]
for (const { kind, spec } of ownKinds) {
  const { definition } = kind
  t.test(`policy lets users write a ${definition.kind} of an account that they may use, and of no other, nor move it`, async (t) => {
    const create = (name: string, accountName: string, by = kind) =>
      by.create({ metadata: { name }, spec: { ...spec, accountName } } as object)
    t.ok(await create('own', 'acme'))
    const request = { annotations: { 'tintype.dev/delete-requested': 'now' } }
    for (const metadata of [{ labels: { team: 'red' } }, request]) t.ok(await kind.patch('own', mergePatch({ metadata })))
    await t.rejects(create('foreign', 'other'), refused('other'))
    await create('taken', 'other', new Resource(release.admin, definition))
    for (const metadata of [{ labels: { 'tintype.dev/hash-2': 'mine' } }, request])
      await t.rejects(kind.patch('taken', mergePatch({ metadata })), refused('other'))
    await t.rejects(kind.delete('taken'), refused('other'))
    if (definition.kind === 'Screenshot') return
    await t.rejects(kind.patch('own', mergePatch({ spec: { accountName: 'other' } })), refused('other'))
    await t.rejects(kind.patch('taken', mergePatch({ spec: { accountName: 'acme' } })), refused('other'))
  })
}

t.test('policy treats an object without an account as one of the default account', async (t) => {
  await t.rejects(shots.create({ metadata: { name: 'unnamed' }, spec: { url } }), refused('default'))
  t.ok(await new Resource(bob, screenshots).create({ metadata: { name: 'unnamed' }, spec: { url } }))
})

t.test('policy rejects changes of finalizers and owners of another account’s objects', async (t) => {
  await new Resource(release.admin, webhooks).create({ metadata: { name: 'foreign-owned' }, spec: { ...hook, accountName: 'other' } })
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'any', uid: 'any' }
  await t.rejects(hooks.patch('foreign-owned', mergePatch({ metadata: { finalizers: ['example.com/held'] } })), refused('other'))
  await t.rejects(hooks.patch('foreign-owned', mergePatch({ metadata: { ownerReferences: [owner] } })), refused('other'))
  t.ok(await hooks.patch('own', mergePatch({ metadata: { ownerReferences: [owner] } })), 'control: the user’s own object')
  t.ok(await hooks.patch('own', mergePatch({ metadata: { ownerReferences: null } })))
})

t.test('policy rejects changes of nothing but managed fields, which say whose apply may remove a field', async (t) => {
  const theirs = new Resource(release.admin, webhooks)
  await theirs.create({ metadata: { name: 'foreign-managed' }, spec: { ...hook, accountName: 'other' } })
  const before = (await theirs.get('foreign-managed')).metadata
  const apply = (client: KubeHttp, name: string, fieldManager: string, accountName: string) =>
    client.request({
      method: 'PATCH',
      path: hooks.pathOf(name),
      query: { fieldManager, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'tintype.dev/v1alpha1', kind: 'Webhook', metadata: { name }, spec: { ...hook, accountName } },
    })
  await t.rejects(hooks.patch('foreign-managed', mergePatch({ metadata: { managedFields: [{}] } })), refused('other'))
  await t.rejects(apply(ann, 'foreign-managed', 'mine', 'other'), refused('other'), 'an apply of the same values')
  t.strictSame((await theirs.get('foreign-managed')).metadata, before)
  t.ok(await hooks.patch('foreign-managed', mergePatch({ spec: { url } })), 'a change of nothing')
  t.ok(await apply(ann, 'own', 'mine', 'acme'), 'control: the user’s own object')
  t.ok(await hooks.patch('own', mergePatch({ metadata: { managedFields: [{}] } })))
})

t.test('policy lets the cluster’s controllers change metadata of all objects', async (t) => {
  for (const user of [
    'system:serviceaccount:kube-system:generic-garbage-collector',
    'system:serviceaccount:kube-system:namespace-controller',
    'system:kube-controller-manager',
  ]) {
    const client = new Resource(await release.asWriter(user, []), webhooks)
    await eventually(`${user} may read`, async () => (await client.find('own').catch(() => undefined)) !== undefined)
    t.ok(await client.patch('own', mergePatch({ metadata: { finalizers: ['example.com/held'] } })), user)
    t.ok(await client.patch('own', mergePatch({ metadata: { finalizers: null } })), user)
  }
})

for (const { kind, spec } of ownKinds) {
  const { definition } = kind
  const create = (name: string, finalizers: string[] = [], by = kind) => by.create({ metadata: { name, finalizers }, spec } as object)
  const finalize = (name: string, finalizers: string[] | null, by = kind) => by.patch(name, mergePatch({ metadata: { finalizers } }))

  t.test(`policy rejects finalizers that would keep a deleted ${definition.kind} forever`, async (t) => {
    await create('kept')
    const held = ['example.com/held']
    const message = { status: 403, message: /metadata.finalizers: .* keep a deleted object forever. Remove example.com\/held/ }
    await t.rejects(create('held', held), message)
    await t.rejects(finalize('kept', held), message)
    await t.rejects(finalize('kept', held, new Resource(release.admin, definition)), message)
    for (const finalizer of ['foregroundDeletion', 'orphan']) {
      t.ok(await create(`collected-${finalizer.toLowerCase()}`, [finalizer]))
      t.ok(await finalize('kept', [finalizer]))
    }
  })

  t.test(`a finalizer that a ${definition.kind} has already may stay, and users may remove it`, async (t) => {
    const [old, other] = ['example.com/old', 'example.com/other']
    await create('before', [old, other], new Resource(gateway, definition))
    t.ok(await kind.patch('before', mergePatch({ metadata: { annotations: { note: 'changed' } } })))
    await t.rejects(finalize('before', [old, other, 'example.com/new']), { status: 403, message: /Remove example.com\/new$/ })
    t.strictSame((await finalize('before', [old])).metadata.finalizers, [old])
    await kind.delete('before')
    t.ok((await kind.get('before')).metadata.deletionTimestamp)
    await finalize('before', null)
    t.equal(await kind.find('before'), undefined)
  })
}

t.test('policy lets only the gateway create names that contain a time', async (t) => {
  const reserved = { status: 403, message: /only the gateway may create names of scr- and 26 characters.* Choose another name/ }
  const future = 'scr-00000000000000000000000000'
  for (const name of [future, toObjectName(newId('scr', new Date()))])
    await t.rejects(shots.create({ metadata: { name }, spec: { url, accountName: 'acme' } }), reserved)
  for (const name of ['scr-front-page', 'scr-80000000000000000000000000', `${future}0`])
    t.ok(await shots.create({ metadata: { name }, spec: { url, accountName: 'acme' } }), `control: ${name}`)
  const name = toObjectName(newId('scr', new Date()))
  t.ok(await new Resource(gateway, screenshots).create({ metadata: { name }, spec: { url, accountName: 'acme' } }))
  t.ok(await shots.patch(name, mergePatch({ metadata: { annotations: { note: 'mine' } } })), 'an update keeps its name')
})

t.test('links of a deleted key worked again when a user of another account created a key of its name', async (t) => {
  const made = (name: string) => ({ metadata: { name }, spec: { accountName: 'acme' } }) as never
  const id = toObjectName(newId('key', new Date()))
  const refused = { status: 403, message: /key- and 26 characters, links of a deleted key would work again\. Choose another name/ }
  await t.rejects(keys.create(made(id)), refused)
  for (const name of ['key-ci', `${id}0`]) t.ok(await keys.create(made(name)), `control: ${name}`)
  t.ok(await new Resource(release.admin, apiKeys).create(made(id)), 'control: an administrator who restores a backup')
  t.ok(await keys.patch(id, mergePatch({ spec: { name: 'mine' } })), 'an update keeps its name')
})

t.test('policy does not restrict the gateway, which has checked the key', async (t) => {
  t.ok(await new Resource(gateway, screenshots).create({ metadata: { name: 'by-gateway' }, spec: { url, accountName: 'other' } }))
})

t.test('role of the chart lets an editor of the namespace use its accounts, and a viewer only read', async (t) => {
  await release.grant('editor', 'tintype-edit')
  await release.grant('viewer', 'tintype-view')
  const editor = new Resource(await release.asUser('editor'), screenshots)
  const viewer = new Resource(await release.asUser('viewer'), screenshots)
  await eventually('the role is in force', async () => (await viewer.list().catch(() => undefined)) !== undefined)
  t.ok(await editor.create({ metadata: { name: 'by-editor' }, spec: { url, accountName: 'other' } }))
  await t.rejects(viewer.create({ metadata: { name: 'by-viewer' }, spec: { url } }), { status: 403, message: /cannot create/ })
})

t.test('policy lets only users of all accounts grant the scope over all accounts', async (t) => {
  const refusal = { status: 403, message: /admin:read covers all accounts/ }
  await t.rejects(keys.create({ metadata: { name: 'admin' }, spec: { accountName: 'acme', scopes: ['admin:read'] } }), refusal)
  await t.rejects(keys.patch('own', mergePatch({ spec: { scopes: ['*', 'admin:read'] } })), refusal)
  await release.permit('eve', 'use-eve', { resources: ['accounts'], verbs: ['use'] })
  await release.permit('eve', 'write-eve', { resources: ['apikeys'], verbs: ['create', 'patch'] })
  const all = new Resource(await release.asUser('eve'), apiKeys)
  const granted = await eventually('the roles are in force', () =>
    all.create({ metadata: { name: 'admin' }, spec: { accountName: 'acme', scopes: ['*', 'admin:read'] } }).catch(() => undefined),
  )
  t.strictSame(granted.spec.scopes, ['*', 'admin:read'])
  // A new text for the key would also give its scopes to the user of one account.
  await t.rejects(keys.patch('admin', mergePatch({ spec: { secretName: 'mine' } })), refusal)
})

// Confused-deputy attacks on trusted fields: a user who may create objects for their own account copies data of
// another account into them. Each attack has a control: the same object created by the gateway, or without the copied data. Schedules create
// Screenshots with the rights of the operator. So whoever writes a schedule must be allowed to create its Screenshots.

const stolen = 'eyJhbGciOiJFQ0RILUVTIn0..a.b.c'
let names = 0
const aShot = (spec: Partial<ScreenshotSpec> = {}) =>
  ({ metadata: { name: `shot-${++names}` }, spec: { url, accountName: 'acme', ...spec } }) as NewObject<Screenshot>
const aKey = (spec: Partial<ApiKey['spec']> = {}, labels: Record<string, string> = {}) =>
  ({ metadata: { name: `key-${++names}`, labels }, spec: { accountName: 'acme', ...spec } }) as NewObject<ApiKey>
const aHook = (spec: Partial<Webhook['spec']> = {}) =>
  ({ metadata: { name: `hook-${++names}` }, spec: { ...hook, accountName, ...spec } }) as NewObject<Webhook>
const createSchedule = (accountName: string, template: Partial<ScheduleTemplate> = {}) =>
  schedules.create({
    metadata: { name: `schedule-${++names}` },
    spec: { accountName, schedule: '@daily', template: { url, ...template } },
  })
/** Sets fields of a schedule's template as the gateway does. */
const storeTemplate = (name: string, template: object) =>
  new Resource(gateway, screenshotSchedules).patch(name, mergePatch({ spec: { template } }))
const rejection = (what: string) => ({ status: 403, message: new RegExp(what) })

await whenInForce(() => createSchedule('other'))

t.test('control: a user may set untrusted fields', async (t) => {
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
    await t.rejects(shots.create(aShot(spec)), rejection(`only the gateway may set ${field}`))
    await t.rejects(new Resource(release.admin, screenshots).create(aShot(spec)), rejection(field), 'not even an administrator')
    t.ok(await new Resource(gateway, screenshots).create(aShot(spec)), 'control: the gateway')
    if (['sealedOptions', 'optionsObject', 'hiddenOptions'].includes(field))
      await t.rejects(createSchedule('acme', spec), rejection(`only the gateway may set ${field}`), 'the same of a schedule')
  })
}

t.test('policy rejects a signing secret that was sealed for another webhook', async (t) => {
  const signingSecrets = [{ sealed: stolen }]
  await t.rejects(hooks.create(aHook({ signingSecrets })), rejection('only the gateway may set signingSecrets'))
  const own = await hooks.create(aHook())
  await t.rejects(hooks.patch(own.metadata.name, mergePatch({ spec: { signingSecrets } })), rejection('signingSecrets'))
})

t.test('policy lets users change a webhook whose secrets the gateway has set, except the secrets', async (t) => {
  const { metadata } = await new Resource(gateway, webhooks).create(aHook({ signingSecrets: [{ sealed: stolen }] }))
  t.match(await hooks.patch(metadata.name, mergePatch({ spec: { active: false } })), { spec: { active: false } })
  await t.rejects(hooks.patch(metadata.name, mergePatch({ spec: { signingSecrets: [{ sealed: 'x' }] } })), rejection('signingSecrets'))
})

t.test('policy lets users set the link fields of keys of their own account only', async (t) => {
  const links = {
    linkSecret: { version: 2 },
    linkPolicy: { allowedHosts: ['example.com'], allowedOptions: ['viewportWidth'], allowOwnMarkup: false },
  }
  t.match((await keys.create(aKey(links))).spec, links)
  await t.rejects(keys.create(aKey({ ...links, accountName: 'other' })), rejection('not allowed to use the account other'))
})

t.test('users set the capture policy of keys; what objects keep of it they can remove, and not set or change', async (t) => {
  const capturePolicy = { allowedHosts: ['example.com'], allowedRequestHosts: ['*.example.com'], allowedOptions: ['format'] }
  const key = await keys.create(aKey({ capturePolicy }))
  t.match(key.spec, { capturePolicy })
  t.ok(await keys.patch(key.metadata.name, mergePatch({ spec: { capturePolicy: { allowedHosts: [] } } })))
  const long = Array.from({ length: 40 }, (_, index) => `${'a'.repeat(60)}.${'b'.repeat(60)}.h${index}`)
  await t.rejects(keys.create(aKey({ capturePolicy: { allowedHosts: long } })), {
    status: 422,
    message: /more than 4096 characters together/,
  })
  const kept = { keyId: 'key_1', allowedHosts: ['example.com'] }
  const refused = rejection('only the gateway may set capturePolicy')
  await t.rejects(shots.create(aShot({ capturePolicy: kept })), refused)
  await t.rejects(createSchedule('acme', { capturePolicy: kept }), refused)
  t.ok(await new Resource(gateway, screenshots).create(aShot({ capturePolicy: kept })), 'control: the gateway')
  const { name } = (await createSchedule('acme')).metadata
  const change = (template: object) => schedules.patch(name, mergePatch({ spec: { template } }))
  await t.rejects(change({ capturePolicy: kept }), refused)
  await storeTemplate(name, { capturePolicy: { ...kept, ...capturePolicy } })
  await t.rejects(change({ capturePolicy: { allowedHosts: ['other.example'] } }), refused)
  await t.rejects(change({ capturePolicy: { allowedOptions: null } }), refused)
  t.ok(await change({ url: 'https://other.example/' }), 'its runs still obey the policy')
  t.ok(await change({ capturePolicy: null }))
})

t.test('policy rejects the hash of a key of another account, whose holder would act for the user’s account', async (t) => {
  for (const label of ['tintype.dev/hash-1', 'tintype.dev/hash-2']) {
    await t.rejects(keys.create(aKey({}, { [label]: 'copied' })), rejection(label))
    const { metadata } = await keys.create(aKey())
    await t.rejects(keys.patch(metadata.name, mergePatch({ metadata: { labels: { [label]: 'copied' } } })), rejection(label))
    t.ok(await keys.patch(metadata.name, mergePatch({ metadata: { labels: { team: 'red' } } })), 'control: another label')
    t.ok(await new Resource(gateway, apiKeys).create(aKey({}, { [label]: 'own' })), 'control: the gateway')
  }
})

t.test('policy rejects a Secret that the user may not read', async (t) => {
  const privateOptionsSecretRef = { name: 'sign-in' }
  await t.rejects(shots.create(aShot({ privateOptionsSecretRef })), rejection('not allowed to read the Secret sign-in'))
  await t.rejects(keys.create(aKey({ existingSecret: 'their-key' })), rejection('not allowed to read the Secret their-key'))
  const reason = rejection('not allowed to read the Secret sign-in\\. Ask for the verb get on it')
  await t.rejects(createSchedule('acme', { privateOptionsSecretRef }), reason)
  const { name } = (await createSchedule('acme')).metadata
  await t.rejects(schedules.patch(name, mergePatch({ spec: { template: { privateOptionsSecretRef } } })), reason)
  await release.permit('ann', 'reader', { apiGroups: [''], resources: ['secrets'], resourceNames: ['sign-in'], verbs: ['get'] })
  await new Resource<Secret>(release.admin, secrets).create({
    metadata: { name: 'sign-in' },
    type: 'tintype.dev/private-options',
    data: {},
  })
  const made = () => shots.create(aShot({ privateOptionsSecretRef })).catch(() => false)
  t.ok(await eventually('the role is in force', made), 'control: a user who may read it')
  await t.rejects(shots.create(aShot({ privateOptionsSecretRef: { name: 'other' } })), rejection('not allowed to read the Secret other'))
})

t.test('the schema rejects unencrypted private options from any user', async (t) => {
  for (const options of [{ authorization: 'Bearer x' }, { cookies: [] }, { headers: {} }, { basicAuthPassword: 'x' }]) {
    const body = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Screenshot', ...aShot(), spec: { url, accountName: 'acme', options } }
    const path = `/apis/tintype.dev/v1alpha1/namespaces/${NAMESPACE}/screenshots`
    const query = { fieldValidation: 'Strict' }
    await t.rejects(
      ann.request({ method: 'POST', path, body, query }),
      { message: /unknown field "spec.options/ },
      Object.keys(options).join(),
    )
  }
  await t.rejects(shots.create(aShot({ url: 'https://user:password@example.com/' })), { status: 422, message: /spec.url/ })
})

t.test('private options follow a changed URL or proxy: the change is refused while they stay', async (t) => {
  const { name } = (await createSchedule('acme')).metadata
  const options = { proxy: 'http://proxy.example.com:8080', headersScope: 'same_site' as const }
  const stored = { options, optionsObject: `schedules/acme/${name}.jwe`, sealedOptions: 'a..b.c.d', hiddenOptions: ['cookies', 'html'] }
  const change = (template: object) => schedules.patch(name, mergePatch({ spec: { template } }))
  await storeTemplate(name, stored)
  const changes: [string, object][] = [
    ['url', { url: 'https://evil.example/' }],
    ['url', { url: 'https://evil.example/', sealedOptions: null, hiddenOptions: null }],
    ['url', { url: 'https://evil.example/', optionsObject: null }],
    ['htmlBaseUrl', { options: { html: '<p>', htmlBaseUrl: 'https://evil.example/' } }],
    ['proxy', { options: { proxy: 'http://evil.example:8080' } }],
    ['storageEndpoint', { options: { storageEndpoint: 'https://evil.example', storageBucket: 'any' } }],
    ['headersScope', { options: { headersScope: 'all' } }],
    ['ignoreHttpsErrors', { options: { ignoreHttpsErrors: true } }],
  ]
  for (const [what, template] of changes) {
    const message = new RegExp(
      `hidden options are for the present ${what}. Change it with PATCH in the REST API, or remove (sealed|options)`,
    )
    await t.rejects(change(template), { status: 403, message }, JSON.stringify(template))
  }
  t.ok(
    await change({
      externalIdentifier: 'mine',
      options: { fullPage: true, proxy: null, headersScope: 'same_origin', ignoreHttpsErrors: false },
    }),
    'other fields',
  )
  const removed = { sealedOptions: null, optionsObject: null, hiddenOptions: null }
  t.ok(await change({ url: 'https://example.org/', ...removed }), 'without the hidden options')
  t.ok(await change({ url: 'https://example.com/', options: { proxy: 'http://other.example:8080' } }), 'a schedule without hidden options')
})

t.test('scripts that kubectl added to sealed cookies put them into the picture: code is refused while they stay', async (t) => {
  const { name } = (await createSchedule('acme')).metadata
  const options = { scripts: 'play()', scriptUrls: ['https://example.com/a.js'] }
  const stored = { options, optionsObject: `schedules/acme/${name}.jwe`, hiddenOptions: ['cookies', 'styles'] }
  const change = (given: object) => schedules.patch(name, mergePatch({ spec: { template: { options: given } } }))
  await storeTemplate(name, stored)
  for (const option of CODE_OPTIONS) {
    const values: Record<string, unknown> = { scriptUrls: ['https://example.com/b.js'], bypassCsp: true }
    const value = values[option] ?? 'document.title = document.cookie'
    const message = new RegExp(`template: ${option} could show the hidden options. Change it with PATCH in the REST API`)
    await t.rejects(change({ [option]: value }), { status: 403, message }, option)
  }
  t.ok(
    await change({ scripts: 'play()', styles: 'p {}', click: '#open', fullPage: true, bypassCsp: false }),
    'the same code, and other options',
  )
  t.ok(await change({ scripts: null, scriptUrls: null }), 'less code')
})

t.test('a URL or store that receives hidden options is refused, in whatever way it is written', async (t) => {
  const [own, other] = [(await createSchedule('acme')).metadata.name, (await createSchedule('acme')).metadata.name]
  const store = { storageEndpoint: 'https://store.example', storageBucket: 'pictures' }
  for (const name of [own, other]) {
    const template = { options: store, optionsObject: `schedules/acme/${name}.jwe`, hiddenOptions: ['cookies', 'storageSecretAccessKey'] }
    await storeTemplate(name, template)
  }
  const at = '/spec/template'
  const json = (...steps: JsonPatchOperation[]): Patch => jsonPatch(steps)
  const whose = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ScreenshotSchedule', metadata: { name: own } }
  const apply = (template: object) =>
    ann.request({
      method: 'PATCH',
      path: schedules.pathOf(own),
      query: { fieldManager: 'ann', force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: { ...whose, spec: { accountName: 'acme', schedule: '@daily', template } },
    })
  const [url, endpoint] = ['https://evil.example/', 'https://evil.example']
  const object = `schedules/acme/${other}.jwe`
  const changes: [what: string, patch: Patch, reason: RegExp][] = [
    ['a removal and an addition', json({ op: 'remove', path: `${at}/url` }, { op: 'add', path: `${at}/url`, value: url }), /present url/],
    ['another template', json({ op: 'replace', path: at, value: { url, optionsObject: `schedules/acme/${own}.jwe` } }), /present url/],
    [
      'other options',
      json({ op: 'remove', path: `${at}/options` }, { op: 'add', path: `${at}/options`, value: { ...store, storageEndpoint: endpoint } }),
      /present storageEndpoint/,
    ],
    ['another object', json({ op: 'replace', path: `${at}/optionsObject`, value: object }), /only the gateway may set optionsObject/],
    [
      'another object and URL',
      mergePatch({ spec: { template: { url, optionsObject: object } } }),
      /only the gateway may set optionsObject/,
    ],
    ['letters of another case', mergePatch({ spec: { template: { url: 'https://EXAMPLE.com/' } } }), /present url/],
    ['a dot segment', mergePatch({ spec: { template: { url: 'https://example.com/./' } } }), /present url/],
    [
      'a store of another case',
      mergePatch({ spec: { template: { options: { storageEndpoint: 'https://STORE.example' } } } }),
      /present storageEndpoint/,
    ],
    ['no hidden names', mergePatch({ spec: { template: { url, hiddenOptions: null } } }), /present url/],
    ['another account', mergePatch({ spec: { accountName: 'other', template: { url } } }), /not allowed to use the account other/],
  ]
  for (const [what, patch, message] of changes) await t.rejects(schedules.patch(own, patch), { status: 403, message }, what)
  await t.rejects(apply({ url }), { status: 403, message: /present url/ }, 'an apply of a URL')
  const stored = { url: 'https://example.com/', options: { storageEndpoint: endpoint } }
  await t.rejects(apply(stored), { status: 403, message: /present storageEndpoint/ }, 'an apply of a store')
  const copied = { url, accountName: 'acme', optionsObject: `schedules/acme/${own}.jwe` }
  const refused = { status: 403, message: /only the gateway may set optionsObject/ }
  await t.rejects(shots.create({ metadata: { name: own }, spec: copied } as never), refused, 'a Screenshot')
  t.ok(await apply({ url: 'https://example.com/', options: { fullPage: true } }), 'control: another option')
  const removed = { url, optionsObject: null, hiddenOptions: null }
  t.ok(await schedules.patch(own, mergePatch({ spec: { template: removed } })), 'without the object')
  await t.rejects(schedules.patch(own, mergePatch({ spec: { template: copied } })), refused, 'and back with it')
  await schedules.delete(own)
  const spec = { accountName: 'acme', schedule: '@daily', template: { url, optionsObject: `schedules/acme/${own}.jwe` } }
  await t.rejects(schedules.create({ metadata: { name: own }, spec }), refused, 'a new schedule of the same name')
})

const instant = '2026-01-01T00:00:00Z'
/** A status of each kind that would deceive the programs: a result of another record, sessions that end, a foreign picture, a foreign Secret. */
const forged = {
  screenshots: { restoredFrom: 'scr_00000000000000000000000000' },
  apikeys: { sessionsNotBefore: instant },
  screenshotschedules: { baseline: { id: 'scr_00000000000000000000000000', time: instant, key: 'baselines/other', etag: 'x' } },
  webhooks: { signingSecretName: 'theirs' },
}
type Plural = keyof typeof forged
const PLURALS = Object.keys(forged) as Plural[]
const STATUSES = PLURALS.map((plural) => `${plural}/status`)
const onlyPrograms = {
  status: 403,
  message: /status: only the programs of the release may write it.* ask for the verb repair on all accounts/,
}

await new Resource(release.admin, screenshots).create({ metadata: { name: 'status-other' }, spec: { url, accountName: 'other' } })
await new Resource(release.admin, screenshots).create({ metadata: { name: 'status-acme' }, spec: { url, accountName: 'acme' } })
for (const accountName of ['other', 'acme']) {
  const metadata = { name: `status-${accountName}` }
  await new Resource(release.admin, webhooks).create({ metadata, spec: { ...hook, accountName } })
  await new Resource(release.admin, apiKeys).create({ metadata, spec: { accountName } })
  await new Resource(release.admin, screenshotSchedules).create({ metadata, spec: { accountName, schedule: '@daily', template: { url } } })
}

function patchStatus(http: KubeHttp, plural: Plural, name: string, status: object, namespace = http.namespace) {
  const { contentType, body } = mergePatch({ status })
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}/status`
  return http.request<{ status?: object }>({ method: 'PATCH', path, body, contentType })
}

/** A user of the account acme with all verbs on the status of every kind. */
async function aStatusWriter(user: string) {
  await release.permit(user, `status-${user}`, { resources: STATUSES, verbs: ['*'] })
  await release.permit(user, `account-${user}`, { resources: ['accounts'], resourceNames: ['acme'], verbs: ['use', 'repair'] })
  return release.asUser(user)
}

t.test('a user of one account cannot write the status of another account’s objects, nor of the user’s own', async (t) => {
  const writer = await aStatusWriter('mallory')
  await eventually('the roles are in force', () =>
    writer
      .request({ method: 'GET', path: `/apis/tintype.dev/v1alpha1/namespaces/${NAMESPACE}/webhooks/status-acme/status` })
      .catch(() => false),
  )
  for (const plural of PLURALS)
    for (const name of ['status-other', 'status-acme'])
      await t.rejects(patchStatus(writer, plural, name, forged[plural]), onlyPrograms, `${plural} ${name}`)
  const own = await new Resource(release.admin, webhooks).get('status-acme')
  await t.rejects(new Resource(writer, webhooks).replaceStatus({ ...own, status: { url: 'x' } }), onlyPrograms, 'an update')
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${NAMESPACE}/webhooks/status-acme/status`
  const body = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Webhook', metadata: { name: 'status-acme' }, status: { url: 'x' } }
  const query = { fieldManager: 'me', force: 'true' }
  const apply = { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml', query } as const
  await t.rejects(writer.request(apply), onlyPrograms, 'server-side apply')
})

t.test('operator and gateway can write only the status that they own', async (t) => {
  const { http: operator } = await release.asPod('tintype-operator', 'operator-status')
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Ready', message: 'ready', lastTransitionTime: instant }]
  for (const plural of PLURALS) {
    t.ok(await patchStatus(operator, plural, 'status-other', { conditions }), `the operator sets conditions of ${plural}`)
    if (plural !== 'apikeys')
      t.ok(await patchStatus(operator, plural, 'status-other', forged[plural]), `the operator owns ${plural}/status`)
  }
  const onlyOwn = { status: 403, message: /may change only \[conditions, secretText\] of apikeys\. Remove other fields/ }
  await t.rejects(patchStatus(operator, 'apikeys', 'status-other', forged.apikeys), onlyOwn)
  t.ok(await patchStatus(gateway, 'apikeys', 'status-other', { ...forged.apikeys, lastUsedTime: instant }))
  const onlyTimes = { status: 403, message: /may change only \[lastUsedTime, sessionsNotBefore\] of apikeys\. Remove other fields/ }
  await t.rejects(patchStatus(gateway, 'apikeys', 'status-other', { conditions: [] }), onlyTimes, 'a changed field')
  await t.rejects(patchStatus(gateway, 'apikeys', 'status-other', { conditions: null }), onlyTimes, 'a removed field')
  t.match(await patchStatus(operator, 'apikeys', 'status-other', { conditions: [] }), { status: forged.apikeys }, 'fields of others stay')
  // Its role allows no other status. The policy holds for a role that was widened by mistake.
  await release.grantEverything('tintype-api-gateway')
  for (const plural of PLURALS.filter((plural) => plural !== 'apikeys')) {
    const widened = () => patchStatus(gateway, plural, 'status-other', { conditions: [] }).catch((error: Error) => error)
    const refusal = await eventually('the role is in force', async () => {
      const found = await widened()
      return found instanceof Error && !found.message.includes('cannot patch') && found
    })
    t.match(refusal, { status: 403, message: new RegExp(`may change only \\[\\] of ${plural}`) }, plural)
  }
})

t.test('administrators with the verb repair on all accounts write any status', async (t) => {
  await release.grant('fixer', 'tintype-repair')
  const fixer = await release.asUser('fixer')
  const repaired = () => patchStatus(fixer, 'webhooks', 'status-acme', { url: 'repaired' }).catch(() => undefined)
  t.match(await eventually('the role is in force', repaired), { status: { url: 'repaired' } })
  for (const plural of PLURALS) {
    t.match(await patchStatus(fixer, plural, 'status-acme', forged[plural]), { status: forged[plural] }, plural)
    t.ok(await patchStatus(release.admin, plural, 'status-other', forged[plural]), 'a cluster administrator has every verb')
  }
})

t.test('policy leaves the status in other namespaces to their own release', async (t) => {
  await new Resource(release.admin, namespaces).create({ metadata: { name: ELSEWHERE } })
  const metadata = { name: 'status-acme', namespace: ELSEWHERE }
  await new Resource(release.admin, webhooks).create({ metadata, spec: { ...hook, accountName: 'acme' } }, { namespace: ELSEWHERE })
  await release.grant('mallory', 'status-mallory', ELSEWHERE)
  const mallory = await release.asUser('mallory')
  const elsewhere = () => patchStatus(mallory, 'webhooks', 'status-acme', { url: 'free' }, ELSEWHERE).catch(() => undefined)
  t.match(await eventually('the role is in force', elsewhere), { status: { url: 'free' } })
})
