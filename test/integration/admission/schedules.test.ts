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

for (const [field, value] of [
  ['sealedOptions', 'eyJhbGciOiJFQ0RILUVTIn0..a.b.c'],
  ['optionsObject', 'schedules/other/sch-1.jwe'],
  ['hiddenOptions', ['cookies']],
] as const) {
  t.test(`only the gateway sets ${field}`, async (t) => {
    await t.rejects(create('acme', { [field]: value }), { status: 403, message: new RegExp(`only the gateway may set ${field}`) })
  })
}
