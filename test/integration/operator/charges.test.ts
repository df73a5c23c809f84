import t from 'tap'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { accounts, accountUsages, screenshots } from '../../../crds/client/kinds.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { type NewObject, Resource } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Account } from '../../../crds/src/kinds/account.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { toStoredStatus } from '../../../crds/src/usage/stored-usage.ts'
import { eventually } from '../../support/eventually.ts'
import { startStage } from './stage.ts'

// Screenshots that no gateway charged, captured by an operator that manages the usage of accounts, with the chart's permissions.

const stage = await startStage(t)
const { node, release } = stage
const accountStore = new Resource(release.admin, accounts)
const usages = new Resource(release.admin, accountUsages)
let operator = await stage.lead({ charges: true })
await stage.setPool({ minIdle: 1, maxPods: 1 })
await stage.whenIdle(1)

t.beforeEach(() => {
  node.capture = async () => {}
  node.orders.length = 0
})

const createAccount = (name: string, spec: Partial<Account['spec']> = {}) =>
  accountStore.create({ metadata: { name }, spec: { plan: 'free', ...spec } } as NewObject<Account>)
/** Leaves an account this much of its quota. */
async function leave(name: string, units: number): Promise<void> {
  const usage = await eventually('its usage exists', async () => {
    const found = await usages.find(name)
    return found?.status?.period !== undefined && found
  })
  await usages.patch(name, mergePatch({ status: { used: usage.spec.limit - units } }), { subresource: 'status' })
}
const leftOf = async (name: string) => {
  const { spec, status } = await usages.get(name)
  return spec.limit - (status?.used ?? 0)
}
const reasonOf = ({ status }: Screenshot) => findCondition(status?.conditions, 'Succeeded')?.reason

t.test('the operator charges a Screenshot at its claim, and fails it without a claim when the quota is used up', async (t) => {
  await createAccount('alpha')
  await leave('alpha', 1)
  const done = await stage.whenFinished(await stage.create({ accountName: 'alpha' }))
  t.match(done.status, { phase: 'Completed', attempt: 1 })
  t.equal(await leftOf('alpha'), 0)
  const refused = await stage.whenFinished(await stage.create({ accountName: 'alpha' }))
  t.match(refused.status, { phase: 'Failed', result: { error: { code: 'USAGE_LIMIT_REACHED' } } })
  t.equal(reasonOf(refused), 'QuotaExceeded')
  t.equal(refused.status?.attempt, undefined)
  t.equal(node.orders.length, 1, 'no runner received an order')
})

t.test('the operator records the charge in the write of the claim, and once for all attempts', async (t) => {
  await createAccount('attempts')
  await leave('attempts', 5)
  const seen: (string | undefined)[] = []
  node.capture = async (order) => {
    seen.push(findCondition((await stage.shots.get(order.name)).status?.conditions, 'Charged')?.status)
    if (order.attempt < 3) throw new CaptureError('INTERNAL_ERROR', 'the browser crashed')
  }
  const done = await stage.whenFinished(await stage.create({ accountName: 'attempts' }))
  t.match(done.status, { phase: 'Completed', attempt: 3 })
  t.strictSame(seen, ['True', 'True', 'True'])
  t.equal(await leftOf('attempts'), 4)
})

t.test('complaint: failed captures are charged: the operator refunds the unit', async (t) => {
  await createAccount('failing')
  await leave('failing', 5)
  node.capture = async () => {
    throw new CaptureError('DNS_FAILED', 'example.com does not resolve')
  }
  const shot = await stage.create({ accountName: 'failing' })
  await stage.when(shot, 'is refunded', ({ status }) => findCondition(status?.conditions, 'Refunded')?.status === 'True')
  t.equal(await leftOf('failing'), 5)
})

t.test('the operator does not charge what a gateway has charged', async (t) => {
  await createAccount('paid')
  await leave('paid', 0)
  const gateway = new Resource(await release.asAccount('tintype-api-gateway'), screenshots)
  const spec = { url: 'https://example.com/', accountName: 'paid', reservation: 'res_1' }
  const done = await stage.whenFinished(await gateway.create({ metadata: { name: toObjectName(newId('scr', new Date())) }, spec }))
  t.match(done.status, { phase: 'Completed' })
})

t.test('the operator fails the Screenshot of a suspended account', async (t) => {
  await createAccount('suspended', { suspended: true })
  const refused = await stage.whenFinished(await stage.create({ accountName: 'suspended' }))
  t.match(refused.status, { phase: 'Failed', result: { error: { code: 'ACCOUNT_SUSPENDED' } } })
  t.equal(reasonOf(refused), 'AccountSuspended')
})

t.test('the operator keeps a Screenshot queued until its Account exists', async (t) => {
  const shot = await stage.create({ accountName: 'later' })
  await stage.when(shot, 'reports why it waits', (current) => reasonOf(current) === 'AccountNotFound')
  await createAccount('later')
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed' })
})

t.test('the operator charges once, whichever leader writes the claim', async (t) => {
  await createAccount('handover')
  await leave('handover', 5)
  const shot = await stage.create({ accountName: 'handover', poolName: 'not-there' })
  const waiting = await stage.when(shot, 'waits', (current) => reasonOf(current) === 'PoolNotFound')
  // As if the previous leader had ended between the charge and the claim.
  const held = { id: waiting.metadata.uid, names: [waiting.metadata.name], gateway: 'operator', at: new Date().toISOString() }
  const used = (await usages.get('handover')).status?.used ?? 0
  await operator.stop()
  await usages.patch('handover', mergePatch({ status: toStoredStatus({ used: used + 1, reservations: [held] }) }), {
    subresource: 'status',
  })
  operator = await stage.lead({ charges: true })
  await stage.poolClient.create({ metadata: { name: 'not-there' }, spec: (await stage.pool()).spec } as Parameters<
    typeof stage.poolClient.create
  >[0])
  await stage.whenFinished(shot)
  t.equal(await leftOf('handover'), 4)
  t.ok(operator.metrics)
})
