import t from 'tap'
import { accounts, screenshotSchedules, screenshots } from '../../../crds/client/kinds.ts'
import { applyPatch, type JsonPatchOperation, jsonPatch, mergePatch, type Patch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import type { ScheduleTemplate } from '../../../crds/src/kinds/screenshot-schedule.ts'
import { CODE_OPTIONS } from '../../../crds/src/options/policy.ts'
import { eventually } from '../../support/eventually.ts'
import { installRelease } from './release.ts'

// Schedules create Screenshots with the rights of the operator. So whoever writes a schedule must be allowed to create its Screenshots.

const release = await installRelease(t)
const adminAccounts = new Resource(release.admin, accounts)
for (const name of ['acme', 'other']) await adminAccounts.create({ metadata: { name }, spec: { plan: 'free' } })
await release.permit('eve', 'write-eve', {
  resources: ['screenshotschedules', 'screenshots'],
  verbs: ['create', 'get', 'update', 'patch', 'delete'],
})
await release.permit('eve', 'use-eve', { resources: ['accounts'], resourceNames: ['acme'], verbs: ['use'] })
const schedules = new Resource(await release.asUser('eve'), screenshotSchedules)
let names = 0
const create = (accountName: string, template: Partial<ScheduleTemplate> = {}) =>
  schedules.create({
    metadata: { name: `schedule-${++names}` },
    spec: { accountName, schedule: '@daily', template: { url: 'https://example.com/', ...template } },
  })

await eventually('the policy is in force', async () => {
  const made = await create('other').catch((error: unknown) => error)
  return made instanceof Error && made.message.includes('not allowed to use')
})

t.test('a user creates, changes and deletes schedules of an own account', async (t) => {
  const { metadata } = await create('acme')
  t.ok(await schedules.patch(metadata.name, mergePatch({ spec: { suspend: true } })))
  await schedules.delete(metadata.name)
})

t.test('a foreign account is refused with the reason', async (t) => {
  const refused = { status: 403, message: /not allowed to use the account other\. Ask for the verb use on accounts\/other/ }
  await t.rejects(create('other'), refused)
  const { metadata } = await create('acme')
  await t.rejects(schedules.patch(metadata.name, mergePatch({ spec: { accountName: 'other' } })), refused)
})

t.test('a foreign Secret is refused with the reason', async (t) => {
  const refused = { status: 403, message: /not allowed to read the Secret foreign\. Ask for the verb get on it/ }
  await t.rejects(create('acme', { privateOptionsSecretRef: { name: 'foreign' } }), refused)
  const { metadata } = await create('acme')
  await t.rejects(
    schedules.patch(metadata.name, mergePatch({ spec: { template: { privateOptionsSecretRef: { name: 'foreign' } } } })),
    refused,
  )
})

t.test('private options follow a changed URL or proxy: the change is refused while they stay', async (t) => {
  const { http: gateway } = await release.asPod('tintype-api-gateway', 'gateway-1')
  const { name } = (await create('acme')).metadata
  const options = { proxy: 'http://proxy.example.com:8080', headersScope: 'same_site' as const }
  const stored = { options, optionsObject: `schedules/acme/${name}.jwe`, sealedOptions: 'a..b.c.d', hiddenOptions: ['cookies', 'html'] }
  const change = (template: object) => schedules.patch(name, mergePatch({ spec: { template } }))
  await new Resource(gateway, screenshotSchedules).patch(name, mergePatch({ spec: { template: stored } }))
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
  const { http: gateway } = await release.asPod('tintype-api-gateway', 'gateway-2')
  const { name } = (await create('acme')).metadata
  const options = { scripts: 'play()', scriptUrls: ['https://example.com/a.js'] }
  const stored = { options, optionsObject: `schedules/acme/${name}.jwe`, hiddenOptions: ['cookies', 'styles'] }
  const change = (given: object) => schedules.patch(name, mergePatch({ spec: { template: { options: given } } }))
  await new Resource(gateway, screenshotSchedules).patch(name, mergePatch({ spec: { template: stored } }))
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
  const { http: gateway } = await release.asPod('tintype-api-gateway', 'gateway-3')
  const [own, other] = [(await create('acme')).metadata.name, (await create('acme')).metadata.name]
  const store = { storageEndpoint: 'https://store.example', storageBucket: 'pictures' }
  for (const name of [own, other]) {
    const template = { options: store, optionsObject: `schedules/acme/${name}.jwe`, hiddenOptions: ['cookies', 'storageSecretAccessKey'] }
    await new Resource(gateway, screenshotSchedules).patch(name, mergePatch({ spec: { template } }))
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
  const shots = new Resource(await release.asUser('eve'), screenshots)
  await t.rejects(shots.create({ metadata: { name: own }, spec: copied } as never), refused, 'a Screenshot')
  t.ok(await schedules.patch(own, apply({ url: 'https://example.com/', options: { fullPage: true } })), 'control: another option')
  const removed = { url, optionsObject: null, hiddenOptions: null }
  t.ok(await schedules.patch(own, mergePatch({ spec: { template: removed } })), 'without the object')
  await t.rejects(schedules.patch(own, mergePatch({ spec: { template: copied } })), refused, 'and back with it')
  await schedules.delete(own)
  const spec = { accountName: 'acme', schedule: '@daily', template: { url, optionsObject: `schedules/acme/${own}.jwe` } }
  await t.rejects(schedules.create({ metadata: { name: own }, spec }), refused, 'a new schedule of the same name')
})

for (const [field, value] of [
  ['sealedOptions', 'eyJhbGciOiJFQ0RILUVTIn0..a.b.c'],
  ['optionsObject', 'schedules/other/sch-1.jwe'],
  ['hiddenOptions', ['cookies']],
] as const) {
  t.test(`only the gateway sets ${field}`, async (t) => {
    await t.rejects(create('acme', { [field]: value }), { status: 403, message: new RegExp(`only the gateway may set ${field}`) })
  })
}
