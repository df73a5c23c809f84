import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { mergePatch } from '../../../crds/client/patch.ts'
import type { NewObject } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { AccountUsage, AccountUsageStatus } from '../../../crds/src/kinds/account-usage.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { recordKey, tombstoneKey } from '../../../crds/src/records/storage-keys.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { toStoredStatus } from '../../../crds/src/usage/stored-usage.ts'
import { monthOf } from '../../../crds/src/usage/usage.ts'
import { run } from '../../cluster/host/exec.ts'
import { locatePrograms } from '../../cluster/programs/programs.ts'
import { eventually } from '../../support/eventually.ts'
import { commandsOf, readText } from '../../support/sources/code-blocks.ts'
import { call } from '../api-gateway/client.ts'
import { fail } from '../api-gateway/runner-role.ts'
import { create, startStage } from './stage.ts'

// The month of one account: limits of its plan, refunds, settlements, a new month, and responses to clients.

t.setTimeout(540_000)

const plan = (monthlyQuota: number, ratePerMinute?: number) => ({
  monthlyQuota,
  ratePerMinute,
  overagePricePer1000: 2,
  retentionDays: 30,
  weight: 1,
})
const stage = await startStage(t, { free: plan(5), basic: plan(5, 2), growth: { ...plan(2), overagePricePer1000: 1.5 } })
const { world } = stage
let quotaOperator = await stage.lead()
const gateway = await stage.startGateway()
const usageOf = (account: string) => world.usages.get(account)
const usedBy = async (account: string) => (await usageOf(account)).status?.used
const setStatus = (account: string, status: Partial<AccountUsageStatus>) =>
  world.usages.patch(account, mergePatch({ status: toStoredStatus(status) }), { subresource: 'status' })
const report = async (key: string) => (await call(`${gateway.url}/v1/usage/current`, { key })).body.data

t.test('operator creates the usage of an account with the limits of its plan, and follows the plan', async (t) => {
  await stage.createAccount('limits', { plan: 'basic' })
  t.strictSame((await usageOf('limits')).spec, { limit: 5, ratePerMinute: 2 })
  t.match((await usageOf('limits')).metadata.ownerReferences, [{ kind: 'Account', name: 'limits' }], 'it is owned by its Account')
  await world.accounts.patch('limits', mergePatch({ spec: { plan: 'growth', overage: { enabled: true, max: 3 } } }))
  await eventually(
    'the limits are those of the new plan',
    async () => (await usageOf('limits')).spec.limit === 5 && !(await usageOf('limits')).spec.ratePerMinute,
  )
  await world.usages.patch('limits', mergePatch({ spec: { limit: 1_000 } }))
  await eventually('other changes are reverted', async () => (await usageOf('limits')).spec.limit === 5)
})

t.test('operator refunds the unit of a failed capture once, however often it restarts', async (t) => {
  const key = await stage.createAccount('refund', { plan: 'free' })
  const first = (await create(gateway, key)).body.id as string
  await create(gateway, key)
  t.equal(await usedBy('refund'), 2)
  await fail(first, { code: 'DNS_FAILED', message: 'the host name does not resolve' }, world)
  const isRefunded = ({ status }: Screenshot) => findCondition(status?.conditions, 'Refunded')?.status === 'True'
  await eventually('the record reports it', async () => isRefunded(await world.screenshots.get(toObjectName(first))))
  t.equal(await usedBy('refund'), 1)
  // As after a crash between the two writes: the unit was refunded, but the record does not say so.
  await quotaOperator.stop()
  const { status } = await world.screenshots.get(toObjectName(first))
  const conditions = status?.conditions?.filter(({ type }) => type !== 'Refunded')
  await world.screenshots.patch(toObjectName(first), mergePatch({ status: { conditions } }), { subresource: 'status' })
  quotaOperator = await stage.lead()
  await eventually('the record reports it again', async () => isRefunded(await world.screenshots.get(toObjectName(first))))
  t.equal(await usedBy('refund'), 1)
})

t.test('operator refunds nothing for a past month, nor what was never charged', async (t) => {
  await stage.createAccount('late', { plan: 'free' })
  await setStatus('late', { used: 3 })
  const old = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 0))
  const failed = async (at: Date, status: object) => {
    const name = toObjectName(newId('scr', at))
    const spec = { url: 'https://example.com/', accountName: 'late', reservation: 'res_1' }
    await world.screenshots.create({ metadata: { name }, spec } as NewObject<Screenshot>)
    await world.screenshots.patch(name, mergePatch({ status: { phase: 'Failed', ...status } }), { subresource: 'status' })
    return name
  }
  await failed(old, { attempt: 1, result: { error: { code: 'TIMEOUT', message: 'late' } } })
  await failed(new Date(), { result: { error: { code: 'USAGE_LIMIT_REACHED', message: 'full' } } })
  const control = await failed(new Date(), { attempt: 1, result: { error: { code: 'TIMEOUT', message: 'late' } } })
  await eventually('the control is refunded', async () => (await usedBy('late')) === 2)
  await sleep(500)
  t.equal(await usedBy('late'), 2)
  t.ok(findCondition((await world.screenshots.get(control)).status?.conditions, 'Refunded'))
})

t.test('operator settles the reservation of an ended gateway: only units of objects that were never created are returned', async (t) => {
  await stage.createAccount('settled', { plan: 'free' })
  const ids = Array.from({ length: 4 }, () => newId('scr', new Date()))
  const [live = '', deleted = '', archived = '', never = ''] = ids
  const spec = { url: 'https://example.com/', accountName: 'settled', reservation: 'res_1' }
  await world.screenshots.create({ metadata: { name: toObjectName(live) }, spec } as NewObject<Screenshot>)
  for (const key of [tombstoneKey('settled', deleted), recordKey('settled', archived)]) await world.bucket.putObject('tintype', key, '')
  const at = new Date(Date.now() - 61_000).toISOString()
  const held = { id: 'res_1', names: ids.map(toObjectName), gateway: 'gone', at }
  const young = { ...held, id: 'res_2', at: new Date().toISOString(), names: [toObjectName(newId('scr', new Date()))] }
  await setStatus('settled', { used: 5, reservations: [held, young] })
  await eventually('it is settled', async () => (await usageOf('settled')).status?.reservations?.length === 1)
  t.match(
    (await usageOf('settled')).status,
    { used: 4, reservations: [{ id: 'res_2' }] },
    'the gateway of the other reservation may have just started',
  )
  t.notOk(await world.screenshots.find(toObjectName(never)))
})

t.test('operator recomputes a manually deleted usage, and reports it', async (t) => {
  const key = await stage.createAccount('lost', { plan: 'free' })
  for (let n = 0; n < 2; n++) await create(gateway, key)
  const [now, before] = [new Date(), new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 0))]
  const keys = [tombstoneKey('lost', newId('scr', now)), recordKey('lost', newId('scr', now)), recordKey('lost', newId('scr', before))]
  for (const name of keys) await world.bucket.putObject('tintype', name, '')
  await world.usages.delete('lost')
  await eventually('two live, one deleted, one archived are counted', async () => (await world.usages.find('lost'))?.status?.used === 4)
  await eventually('an Event reports it', async () => {
    const { items } = await stage.http.request<{ items: { reason: string; involvedObject: { name: string } }[] }>({
      method: 'GET',
      path: `/api/v1/namespaces/${stage.http.namespace}/events`,
    })
    return items.some(({ reason, involvedObject }) => reason === 'UsageRecounted' && involvedObject.name === 'lost')
  })
  t.equal((await create(gateway, key)).status, 202)
})

t.test('operator charges Screenshots that no gateway created once, under any leader, and not beyond the quota', async (t) => {
  await stage.createAccount('kubectl', { plan: 'growth' })
  const shot = async (): Promise<Screenshot> =>
    world.screenshots.create({
      metadata: { name: `mine-${randomUUID()}` },
      spec: { url: 'https://example.com/', accountName: 'kubectl' },
    } as NewObject<Screenshot>)
  const [one, two, three] = await Promise.all([shot(), shot(), shot()])
  t.equal(await quotaOperator.charge(one), 'charged')
  // A leader that ends before it has written the claim.
  await quotaOperator.stop()
  quotaOperator = await stage.lead()
  t.strictSame(
    [await quotaOperator.charge(one), await quotaOperator.charge(two), await quotaOperator.charge(three)],
    ['charged', 'charged', 'quota'],
  )
  t.equal(await usedBy('kubectl'), 2)
  await world.accounts.patch('kubectl', mergePatch({ spec: { suspended: true } }))
  await eventually('the operator knows the suspension', async () => (await quotaOperator.charge(three)) === 'suspended')
  t.equal(await quotaOperator.charge({ ...three, spec: { ...three.spec, accountName: 'nobody' } }), 'missing')
})

t.test('the documented command changes the plan of the first account at once', async (t) => {
  const command = commandsOf(readText('docs/operations.md')).find((line) => line.includes('patch account default')) ?? ''
  const json = /^kubectl -n tintype patch account default --type=merge -p '(.*)'$/.exec(command)?.[1] ?? ''
  const key = await stage.createAccount('default', { plan: 'free' })
  t.match(await report(key), { plan: 'free', limit: 5 })
  const kubectl = path.join((await locatePrograms()).kubernetes, 'kubectl')
  await run(kubectl, ['--kubeconfig', world.plane.kubeconfigPath, 'patch', 'account', 'default', '--type=merge', '-p', json])
  await eventually('the gateway uses the new plan', async () => (await report(key)).plan === 'growth' && (await report(key)).limit === 2)
  await create(gateway, key)
  await create(gateway, key)
  t.match(await create(gateway, key), { status: 429, body: { error: { code: 'USAGE_LIMIT_REACHED', details: { limit: 2 } } } })
})

t.test('gateway drops its reservations and its Lease on a graceful exit', async (t) => {
  const key = await stage.createAccount('polite', { plan: 'free' })
  const before = new Set((await stage.gatewayLeases.listAll()).map(({ metadata }) => metadata.name))
  const other = await stage.startGateway()
  const after = (await stage.gatewayLeases.listAll()).map(({ metadata }) => metadata.name).filter((name) => !before.has(name))
  t.equal(after.length, 1)
  t.match(
    (await stage.gatewayLeases.get(after[0]!)).metadata.ownerReferences,
    [{ kind: 'Pod', uid: 'pod-uid' }],
    'otherwise it is deleted together with its pod',
  )
  t.equal((await create(other, key)).status, 202)
  t.match((await usageOf('polite')).status?.reservations, [{ gateway: after[0] }], 'control: it holds one')
  t.equal(await other.stop(), 0)
  t.strictSame((await usageOf('polite')).status?.reservations, [])
  t.notOk(await stage.gatewayLeases.find(after[0]!))
})

t.test('gateway waits for the usage of an account to be created, and reports a timeout', async (t) => {
  await quotaOperator.stop()
  await world.accounts.create({ metadata: { name: 'new' }, spec: { plan: 'free' } } as Parameters<typeof world.accounts.create>[0])
  const key = await world.createKey({ accountName: 'new' })
  const { status, headers, body } = await create(gateway, key)
  t.equal(status, 503)
  t.ok(headers.get('retry-after'))
  t.match(body.error.message, /not set up yet/)
  const begun = create(gateway, key)
  await world.usages.create({ metadata: { name: 'new' }, spec: { limit: 5 } } as NewObject<AccountUsage>)
  await setStatus('new', { period: monthOf(new Date()), used: 0 })
  t.equal((await begun).status, 202)
})
