import t from 'tap'
import { Queue } from '../../../api-gateway/src/creation/queue.ts'
import { KubeQueue } from '../../../api-gateway/src/resources/screenshots/store/kube-queue.ts'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { accounts, accountUsages, screenshots } from '../../../crds/client/kinds.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { type NewObject, Resource } from '../../../crds/client/resource.ts'
import type { Account } from '../../../crds/src/kinds/account.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { toStoredStatus } from '../../../crds/src/usage/stored-usage.ts'
import { eventually } from '../../support/eventually.ts'
import { newName, startStage } from './stage.ts'

// Screenshots from kubectl, which no gateway has charged or checked, and an operator that manages the usage of accounts, with the chart's permissions.

const LIMIT = 20
const UNRUNNABLE_SECONDS = 7_200
const stage = await startStage(t, {
  environment: { TINTYPE_MAX_QUEUED_PER_ACCOUNT: String(LIMIT), TINTYPE_UNRUNNABLE_SECONDS: String(UNRUNNABLE_SECONDS) },
})
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

const createAccount = (name: string, spec: Partial<Account['spec']> = {}): Promise<Account> =>
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

const acme = await createAccount('acme', { plan: 'scale' })
const other = await createAccount('other', { plan: 'scale' })

const reflector = new Reflector({ http: release.admin, resource: screenshots })
const view = new KubeQueue(reflector, release.admin.namespace, () => false)
reflector.start()
await reflector.whenSynced()
t.teardown(() => reflector.stop())
/** The queue of a gateway, with room for two accounts at their limit. */
const queue = new Queue({
  view,
  bounds: { maxQueued: 2 * LIMIT, maxQueuedPerAccount: LIMIT },
  plans: DEFAULT_PLANS,
  findAccount: (name) => ({ acme, other })[name],
})

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
  const done = await stage.whenFinished(await gateway.create({ metadata: { name: newName() }, spec }))
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
  await stage.poolClient.create({ metadata: { name: 'not-there' }, spec: (await stage.pool()).spec })
  await stage.whenFinished(shot)
  t.equal(await leftOf('handover'), 4)
  t.ok(operator.metrics)
})

// Screenshots that cannot be captured must not block others, and must end.

const client = new Resource(release.admin, screenshots)
const make = (prefix: string, count: number, spec: Partial<ScreenshotSpec>): Promise<Screenshot[]> =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      client.create({ metadata: { name: `${prefix}-${n}` }, spec: { url: 'https://example.com/', ...spec } }),
    ),
  )
const seen = (prefix: string) => reflector.lister.list().filter(({ metadata }) => metadata.name.startsWith(`${prefix}-`))
const count = (prefix: string, phase: string, reason: string) =>
  seen(prefix).filter((shot) => (shot.status?.phase ?? 'Pending') === phase && reasonOf(shot) === reason).length

t.test('more queued Screenshots of an unknown pool than the account limit leave its queue and those of others open', async (t) => {
  await make('lost', 3 * LIMIT, { accountName: 'acme', poolName: 'nowhere' })
  await eventually('the excess Screenshots failed', async () => count('lost', 'Failed', 'QueueFull') === 2 * LIMIT)
  await eventually('the others report why they wait', async () => count('lost', 'Pending', 'PoolNotFound') === LIMIT)
  t.doesNotThrow(() => queue.check(acme, LIMIT))
  t.doesNotThrow(() => queue.check(other, LIMIT - 5))
  const waiting = seen('lost').find((shot) => reasonOf(shot) === 'PoolNotFound')
  t.match(findCondition(waiting?.status?.conditions, 'Runnable'), {
    status: 'False',
    reason: 'PoolNotFound',
    message: /RunnerPool nowhere does not exist\. Create it, or create the Screenshot with another spec\.poolName/,
  })
  // The clock of the next leader is past their timeout; that of the first one never was, even on a slow machine.
  await operator.stop()
  stage.clock.ahead = (UNRUNNABLE_SECONDS + 1) * 1_000
  operator = await stage.lead({ charges: true })
  await eventually('their timeout has passed', async () => count('lost', 'Failed', 'PoolNotFound') === LIMIT)
  const ended = seen('lost').filter((shot) => reasonOf(shot) === 'PoolNotFound')
  t.match(ended[0]?.status, { phase: 'Failed', result: { error: { code: 'POOL_NOT_FOUND' } } })
  t.ok(ended.every((shot) => findCondition(shot.status?.conditions, 'Charged') === undefined))
})

t.test('Screenshots of accounts that do not exist share one limit', async () => {
  for (let n = 0; n < 3; n++) await make(`nobody-${n}`, LIMIT, { accountName: `nobody-${n}` })
  await eventually('the excess Screenshots failed', async () => count('nobody', 'Failed', 'QueueFull') === 2 * LIMIT)
  await eventually('the rest reports why it waits', async () => count('nobody', 'Pending', 'AccountNotFound') === LIMIT)
})

t.test('a video fails at once in a pool that records none, and waits for a pool that does not exist', async (t) => {
  const options = { format: 'mp4' } as const
  await make('still', 1, { accountName: 'acme', poolName: 'default', options })
  await eventually('it failed', async () => count('still', 'Failed', 'VideoUnavailable') === 1)
  t.match(seen('still')[0]?.status?.result?.error, {
    code: 'VIDEO_UNAVAILABLE',
    message: /^RunnerPool default does not record videos\. Leave out spec\.poolName, or set spec\.video/,
  })
  await stage.poolClient.delete('video')
  await make('moving', 1, { accountName: 'acme', options })
  await eventually('it reports why it waits', async () => count('moving', 'Pending', 'PoolNotFound') === 1)
  t.match(
    findCondition(seen('moving')[0]?.status?.conditions, 'Runnable')?.message,
    /RunnerPool video does not exist.*runner\.video\.enabled/,
  )
})
