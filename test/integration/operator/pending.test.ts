import t from 'tap'
import { Queue } from '../../../api-gateway/src/creation/queue.ts'
import { KubeQueue } from '../../../api-gateway/src/resources/screenshots/store/kube-queue.ts'
import { accounts, screenshots } from '../../../crds/client/kinds.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { Resource } from '../../../crds/client/resource.ts'
import type { Account } from '../../../crds/src/kinds/account.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { eventually } from '../../support/eventually.ts'
import { startStage } from './stage.ts'

// Screenshots from kubectl that cannot be captured: they must not block others, and must end.

const LIMIT = 20
const UNRUNNABLE_SECONDS = 7_200
const stage = await startStage(t, {
  environment: { TINTYPE_MAX_QUEUED_PER_ACCOUNT: String(LIMIT), TINTYPE_UNRUNNABLE_SECONDS: String(UNRUNNABLE_SECONDS) },
})
const { admin } = stage.release
const made = new Resource(admin, accounts)
const acme: Account = await made.create({ metadata: { name: 'acme' }, spec: { plan: 'scale' } })
const other: Account = await made.create({ metadata: { name: 'other' }, spec: { plan: 'scale' } })
const leader = await stage.lead({ charges: true })

// The queue of a gateway, with room for two accounts at their limit.
const reflector = new Reflector({ http: admin, resource: screenshots })
const view = new KubeQueue(reflector, admin.namespace, () => false)
reflector.start()
await reflector.whenSynced()
t.teardown(() => reflector.stop())
const queue = new Queue({
  view,
  bounds: { maxQueued: 2 * LIMIT, maxQueuedPerAccount: LIMIT },
  plans: DEFAULT_PLANS,
  findAccount: (name) => ({ acme, other })[name],
})

const client = new Resource(admin, screenshots)
const url = 'https://example.com/'
const make = (prefix: string, count: number, spec: Partial<ScreenshotSpec>): Promise<Screenshot[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => client.create({ metadata: { name: `${prefix}-${n}` }, spec: { url, ...spec } })))
const reasonOf = ({ status }: Screenshot) => findCondition(status?.conditions, 'Succeeded')?.reason
const seen = (prefix: string) => reflector.lister.list().filter(({ metadata }) => metadata.name.startsWith(`${prefix}-`))
const count = (prefix: string, phase: string, reason: string) =>
  seen(prefix).filter((shot) => (shot.status?.phase ?? 'Pending') === phase && reasonOf(shot) === reason).length

t.test('more queued Screenshots of an unknown pool than the account limit leave its queue and those of others open', async (t) => {
  await make('lost', 3 * LIMIT, { accountName: 'acme', poolName: 'not-there' })
  await eventually('the excess Screenshots failed', async () => count('lost', 'Failed', 'QueueFull') === 2 * LIMIT)
  await eventually('the others report why they wait', async () => count('lost', 'Pending', 'PoolNotFound') === LIMIT)
  t.doesNotThrow(() => queue.check(acme, LIMIT))
  t.doesNotThrow(() => queue.check(other, LIMIT - 5))
  const waiting = seen('lost').find((shot) => reasonOf(shot) === 'PoolNotFound')
  t.match(findCondition(waiting?.status?.conditions, 'Runnable'), {
    status: 'False',
    reason: 'PoolNotFound',
    message: /RunnerPool not-there does not exist\. Create it, or create the Screenshot with another spec\.poolName/,
  })
  // The clock of the next leader is past their timeout; that of the first one never was, even on a slow machine.
  await leader.stop()
  stage.clock.ahead = (UNRUNNABLE_SECONDS + 1) * 1_000
  await stage.lead({ charges: true })
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
