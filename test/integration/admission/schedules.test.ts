import t from 'tap'
import { accounts, screenshotSchedules } from '../../../crds/client/kinds.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import type { ScheduleTemplate } from '../../../crds/src/kinds/screenshot-schedule.ts'
import { eventually } from '../../support/eventually.ts'
import { installRelease } from './release.ts'

// Schedules create Screenshots with the rights of the operator. So whoever writes a schedule must be allowed to create its Screenshots.

const release = await installRelease(t)
const adminAccounts = new Resource(release.admin, accounts)
for (const name of ['acme', 'other']) await adminAccounts.create({ metadata: { name }, spec: { plan: 'free' } })
await release.permit('eve', 'write-eve', { resources: ['screenshotschedules'], verbs: ['create', 'get', 'update', 'patch', 'delete'] })
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
  ]
  for (const [what, template] of changes) {
    const message = new RegExp(
      `hidden options are for the present ${what}. Change it with PATCH in the REST API, or remove (sealed|options)`,
    )
    await t.rejects(change(template), { status: 403, message }, JSON.stringify(template))
  }
  t.ok(await change({ externalIdentifier: 'mine', options: { fullPage: true, proxy: null, headersScope: 'same_origin' } }), 'other fields')
  const removed = { sealedOptions: null, optionsObject: null, hiddenOptions: null }
  t.ok(await change({ url: 'https://example.org/', ...removed }), 'without the hidden options')
  t.ok(await change({ url: 'https://example.com/', options: { proxy: 'http://other.example:8080' } }), 'a schedule without hidden options')
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
