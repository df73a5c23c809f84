import t from 'tap'
import { type Secret, secrets } from '../../../crds/client/core-resources.ts'
import { apiKeys, screenshotSchedules, screenshots, webhooks } from '../../../crds/client/kinds.ts'
import { applyPatch, type JsonPatchOperation, jsonPatch, mergePatch, type Patch } from '../../../crds/client/patch.ts'
import { type NewObject, Resource } from '../../../crds/client/resource.ts'
import type { ApiKey } from '../../../crds/src/kinds/api-key.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import type { ScheduleTemplate } from '../../../crds/src/kinds/screenshot-schedule.ts'
import type { Webhook } from '../../../crds/src/kinds/webhook.ts'
import { CODE_OPTIONS } from '../../../crds/src/options/policy.ts'
import { eventually } from '../../support/eventually.ts'
import { installRelease, NAMESPACE, whenInForce } from './release.ts'

// Confused-deputy attacks on trusted fields, on a real API server: a user who may create objects for their own account copies data of
// another account into them. Each attack has a control: the same object created by the gateway, or without the copied data. Schedules create
// Screenshots with the rights of the operator. So whoever writes a schedule must be allowed to create its Screenshots.

const release = await installRelease(t)
await release.createAccounts('default', 'acme', 'other')
const eve = await release.asWriter('eve', ['acme'])
const shots = new Resource(eve, screenshots)
const hooks = new Resource(eve, webhooks)
const keys = new Resource(eve, apiKeys)
const schedules = new Resource(eve, screenshotSchedules)
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
const createSchedule = (accountName: string, template: Partial<ScheduleTemplate> = {}) =>
  schedules.create({
    metadata: { name: `schedule-${++names}` },
    spec: { accountName, schedule: '@daily', template: { url, ...template } },
  })
/** Sets fields of a schedule's template as the gateway does. */
const storeTemplate = (name: string, template: object) =>
  new Resource(gateway, screenshotSchedules).patch(name, mergePatch({ spec: { template } }))
const refused = (what: string) => ({ status: 403, message: new RegExp(what) })

await whenInForce(() => shots.create(aShot({ accountName: 'other' })))
await whenInForce(() => createSchedule('other'))

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
    if (['sealedOptions', 'optionsObject', 'hiddenOptions'].includes(field))
      await t.rejects(createSchedule('acme', spec), refused(`only the gateway may set ${field}`), 'the same of a schedule')
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
  const reason = refused('not allowed to read the Secret sign-in\\. Ask for the verb get on it')
  await t.rejects(createSchedule('acme', { privateOptionsSecretRef }), reason)
  const { name } = (await createSchedule('acme')).metadata
  await t.rejects(schedules.patch(name, mergePatch({ spec: { template: { privateOptionsSecretRef } } })), reason)
  await release.permit('eve', 'reader', { apiGroups: [''], resources: ['secrets'], resourceNames: ['sign-in'], verbs: ['get'] })
  await new Resource<Secret>(release.admin, secrets).create({
    metadata: { name: 'sign-in' },
    type: 'tintype.dev/private-options',
    data: {},
  })
  const made = () => shots.create(aShot({ privateOptionsSecretRef })).catch(() => false)
  t.ok(await eventually('the role is in force', made), 'control: a user who may read it')
  await t.rejects(shots.create(aShot({ privateOptionsSecretRef: { name: 'other' } })), refused('not allowed to read the Secret other'))
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
  const apply = (template: object): Patch =>
    applyPatch(
      {
        ...{ apiVersion: 'tintype.dev/v1alpha1', kind: 'ScreenshotSchedule', metadata: { name: own } },
        spec: { accountName: 'acme', schedule: '@daily', template },
      } as never,
      { fieldManager: 'eve' },
    )
  const [url, endpoint] = ['https://evil.example/', 'https://evil.example']
  const object = `schedules/acme/${other}.jwe`
  const changes: [what: string, patch: Patch, reason: RegExp][] = [
    ['an apply of a URL', apply({ url }), /present url/],
    ['an apply of a store', apply({ url: 'https://example.com/', options: { storageEndpoint: endpoint } }), /present storageEndpoint/],
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
  const copied = { url, accountName: 'acme', optionsObject: `schedules/acme/${own}.jwe` }
  const refused = { status: 403, message: /only the gateway may set optionsObject/ }
  await t.rejects(shots.create({ metadata: { name: own }, spec: copied } as never), refused, 'a Screenshot')
  t.ok(await schedules.patch(own, apply({ url: 'https://example.com/', options: { fullPage: true } })), 'control: another option')
  const removed = { url, optionsObject: null, hiddenOptions: null }
  t.ok(await schedules.patch(own, mergePatch({ spec: { template: removed } })), 'without the object')
  await t.rejects(schedules.patch(own, mergePatch({ spec: { template: copied } })), refused, 'and back with it')
  await schedules.delete(own)
  const spec = { accountName: 'acme', schedule: '@daily', template: { url, optionsObject: `schedules/acme/${own}.jwe` } }
  await t.rejects(schedules.create({ metadata: { name: own }, spec }), refused, 'a new schedule of the same name')
})
