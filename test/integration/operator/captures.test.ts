import t from 'tap'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { accounts, accountUsages } from '../../../crds/client/kinds.ts'
import { mergePatch, type NewObject, Resource } from '../../../crds/client/resource.ts'
import { attemptMilliseconds } from '../../../crds/src/dispatch/dispatch.ts'
import type { Account } from '../../../crds/src/kinds/account.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { toStoredStatus } from '../../../crds/src/usage/stored-usage.ts'
import { CRASH_RECOVERY_SECONDS, MAX_CRASHES } from '../../../operator/src/scheduling/crash-budget.ts'
import { eventually } from '../../support/eventually.ts'
import { startStage } from './stage.ts'

// Captures from the queue to the file and the charge, by an operator with the chart's permissions. No gateway has charged these Screenshots.

const plans = { ...DEFAULT_PLANS, growth: { ...DEFAULT_PLANS.growth, poolName: 'large' } }
const stage = await startStage(t, { environment: { TINTYPE_PLANS: JSON.stringify(plans) } })
const { node, release } = stage
const accountStore = new Resource(release.admin, accounts)
const usages = new Resource(release.admin, accountUsages)
const createAccount = (name: string, plan = 'scale'): Promise<Account> =>
  accountStore.create({ metadata: { name }, spec: { plan } } as NewObject<Account>)
await createAccount('default')
let leader = await stage.lead({ charges: true })
await stage.setPool({ minIdle: 2, maxPods: 2 })
await stage.whenIdle(2)

/** The first Event about an object with a reason. */
const whenReported = (name: string, reason: string) =>
  eventually(`an Event reports ${reason}`, async () => (await stage.eventsOf(name)).find((event) => event.reason === reason))

t.beforeEach(() => {
  node.capture = async () => {}
  node.orders.length = 0
})

/** Creates an account with this much left of its quota. */
async function createWith(name: string, units: number): Promise<void> {
  await createAccount(name)
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

t.test('a pool creates minIdle pods that the Pod Security level of the namespace admits', async (t) => {
  t.equal((await stage.poolPods()).length, 2)
  const { status } = await stage.pool()
  t.match(status, { replicas: 2, busy: 0, queued: 0, selector: 'tintype.dev/pool=default' })
  for (const type of ['Ready', 'Sandboxed', 'Guarded']) t.equal(findCondition(status?.conditions, type)?.status, 'True', type)
})

t.test('the operator captures a Screenshot with one claim, one order and one file', async (t) => {
  const shot = await stage.create()
  const done = await stage.whenFinished(shot)
  t.match(done.status, { phase: 'Completed', attempt: 1 })
  t.equal(node.orders.length, 1)
  t.equal(await stage.fileOf(shot), `${shot.metadata.name} attempt 1 on ${done.status?.runner?.pod}`)
  t.equal(findCondition(done.status?.conditions, 'Finished')?.status, 'True')
})

t.test('the operator charges a Screenshot at its claim, and fails it without a claim when the quota is used up', async (t) => {
  await createWith('alpha', 1)
  t.match((await stage.whenFinished(await stage.create({ accountName: 'alpha' }))).status, { phase: 'Completed', attempt: 1 })
  t.equal(await leftOf('alpha'), 0)
  const refused = await stage.whenFinished(await stage.create({ accountName: 'alpha' }))
  t.match(refused.status, { phase: 'Failed', attempt: undefined, result: { error: { code: 'USAGE_LIMIT_REACHED' } } })
  t.equal(reasonOf(refused), 'QuotaExceeded')
  t.equal(node.orders.length, 1, 'no runner received an order')
})

t.test('the operator repeats an attempt that its runner gave up, keeps the pod, reports why, and charges once', async (t) => {
  await createWith('attempts', 5)
  await stage.whenIdle(2)
  const before = (await stage.poolPods()).map(({ metadata }) => metadata.uid).sort()
  const seen: (string | undefined)[] = []
  node.capture = async (order) => {
    seen.push(findCondition((await stage.shots.get(order.name)).status?.conditions, 'Charged')?.status)
    if (order.attempt < 3) throw new CaptureError('STORAGE_FAILED', 'the store responded with 503')
  }
  const shot = await stage.create({ accountName: 'attempts' })
  const done = await stage.whenFinished(shot)
  t.match(done.status, { phase: 'Completed', attempt: 3, lostRunners: undefined })
  t.strictSame((await stage.poolPods()).map(({ metadata }) => metadata.uid).sort(), before)
  const messages = (await stage.eventsOf(shot.metadata.name)).map(({ reason, message }) => `${reason} ${message}`)
  t.match(messages.join(), /AttemptFailed pod \S+ attempt 1: STORAGE_FAILED: the store responded with 503/)
  t.strictSame(seen, ['True', 'True', 'True'], 'the charge is in the write of the claim')
  t.equal(await leftOf('attempts'), 4)
})

t.test('the operator starts another attempt on another pod when a runner drops a capture', async (t) => {
  node.capture = async (order) => {
    if (order.attempt === 1) throw new CaptureError('INTERNAL_ERROR', 'the browser crashed')
  }
  t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed', attempt: 2, lostRunners: undefined })
  t.equal(new Set(node.orders.map(({ pod }) => pod)).size, 2)
})

t.test('the operator charges once, whichever leader writes the claim', async (t) => {
  await createWith('handover', 5)
  const shot = await stage.create({ accountName: 'handover', poolName: 'large' })
  const waiting = await stage.when(shot, 'waits', (current) => reasonOf(current) === 'PoolNotFound')
  // As if the previous leader had ended between the charge and the claim.
  const held = { id: waiting.metadata.uid, names: [waiting.metadata.name], gateway: 'operator', at: new Date().toISOString() }
  const used = (await usages.get('handover')).status?.used ?? 0
  await leader.stop()
  await usages.patch('handover', mergePatch({ status: toStoredStatus({ used: used + 1, reservations: [held] }) }), {
    subresource: 'status',
  })
  leader = await stage.lead({ charges: true })
  await stage.poolClient.create({ metadata: { name: 'large' }, spec: { ...(await stage.pool()).spec, minIdle: 0 } })
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', runner: { pod: 'large-0' } })
  t.equal(await leftOf('handover'), 4)
  await stage.poolClient.delete('large')
})

t.test('complaint: failed captures are charged: the operator refunds the unit, and keeps the failure of the page', async (t) => {
  await createWith('failing', 5)
  node.capture = async () => {
    throw new CaptureError('DNS_FAILED', 'example.com does not resolve')
  }
  const shot = await stage.create({ accountName: 'failing' })
  const isRefunded = ({ status }: Screenshot) => findCondition(status?.conditions, 'Refunded')?.status === 'True'
  const done = await stage.when(shot, 'is refunded', isRefunded)
  t.match(done.status, { phase: 'Failed', attempt: 1, result: { error: { code: 'DNS_FAILED' } } })
  t.equal(node.orders.length, 1)
  t.equal(await leftOf('failing'), 5)
})

t.test('the operator captures on nodes whose clocks are 90 s off, and reports it', async (t) => {
  for (const ahead of [90_000, -90_000]) {
    await stage.whenIdle(2)
    stage.clock.ahead = ahead
    const began = Date.now()
    const shot = await stage.create()
    t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 1 })
    const { deadline = 0 } = node.orders.at(-1)?.order ?? {}
    const late = deadline - began - attemptMilliseconds(undefined)
    t.ok(Math.abs(late) < 30_000, `the deadline of the runner is off by ${late} ms`)
  }
  await stage.podClient.delete((await stage.poolPods())[0]?.metadata.name ?? '', { gracePeriodSeconds: 0 })
  t.match(await whenReported('default', 'ClockSkewed'), { type: 'Warning', message: /(89|90|91) s ahead of the operator’s. Synchronize/ })
  stage.clock.ahead = 0
})

for (const [what, loses] of [
  ['adopts a capture whose order was accepted without a response', 'response'],
  ['sends the same attempt again when the runner did not get the order', 'order'],
] as const) {
  t.test(`the operator ${what}`, async (t) => {
    await stage.whenIdle(2)
    for (const runner of node.runners.values()) {
      const lose = (): void => {
        runner.intercept = (_server, request, response) => {
          if (request.method !== 'POST') lose()
          else if (loses === 'order') response.destroy()
          else response.writeHead = () => response.destroy() as never
          return request.method === 'POST' && loses === 'order'
        }
      }
      lose()
    }
    t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed', attempt: 1 })
    t.equal(node.orders.length, 1)
    for (const runner of node.runners.values()) runner.intercept = undefined
  })
}

t.test('the operator cancels the capture of a deleted Screenshot and leaves no file', async (t) => {
  const begun = Promise.withResolvers<void>()
  const cancelledOnce = Promise.withResolvers<void>()
  node.capture = async (_order, _runner, cancelled) => {
    begun.resolve()
    await new Promise((resolve) => cancelled.addEventListener('abort', resolve))
    cancelledOnce.resolve()
  }
  const shot = await stage.create()
  await begun.promise
  await stage.shots.delete(shot.metadata.name)
  await t.resolves(cancelledOnce.promise, 'the capture is canceled')
  node.capture = async () => {}
  t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed' }, 'the operator goes on')
  t.equal(await stage.fileOf(shot), undefined)
})

t.test('the operator counts its work in its metrics', async (t) => {
  const text = await leader.metrics.registry.metrics()
  for (const line of [
    /screenshot_job_duration_seconds_count\{format="png",result="completed"\} \d/,
    /screenshot_failures_total\{reason="DNS_FAILED"\} 1/,
    /screenshot_steps_seconds_count\{step="navigate"\} \d/,
    /screenshot_queue_wait_seconds_count \d/,
    /screenshot_pod_startup_seconds_count \d/,
    /controller_runtime_reconcile_total\{controller="screenshot",result="success"\} \d/,
    /workqueue_adds_total\{name="screenshot",controller="screenshot"\} \d/,
  ]) {
    t.match(text, line)
  }
  t.notMatch(text, /controller_runtime_reconcile_panics_total\{controller="\w+"\} [1-9]/)
})

t.test('a Screenshot without a pool uses the pool of its account’s plan, and moves when the plan changes', async (t) => {
  await createAccount('rich', 'growth')
  const { spec } = await stage.pool()
  const shot = await stage.create({ accountName: 'rich' })
  await stage.when(shot, 'waits for the pool', ({ status }) => findCondition(status?.conditions, 'Succeeded')?.reason === 'PoolNotFound')
  await stage.poolClient.create({ metadata: { name: 'large' }, spec: { ...spec, minIdle: 0, maxPods: 1 } })
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', runner: { pod: 'large-0' } })
  t.match((await stage.whenFinished(await stage.create({ accountName: 'rich', poolName: 'default' }))).status?.runner?.pod, /^default-/)
  await stage.poolClient.delete('large')
  const next = await stage.create({ accountName: 'rich' })
  await accountStore.patch('rich', mergePatch({ spec: { plan: 'free' } }))
  t.match((await stage.whenFinished(next)).status?.runner?.pod, /^default-/)
})

// Videos and the pool of the chart that records them.

const videoPool = () => stage.poolClient.get('video')
const conditionOf = async (type: string) => findCondition((await videoPool()).status?.conditions, type)
const podsOfPool = () => stage.podClient.listAll({ labelSelector: 'tintype.dev/pool=video' })
const createVideo = (options: object = {}) => stage.create({ options: { format: 'mp4', ...options } })

t.test('the pool of videos starts its first pod for the first video, and none for screenshots', async (t) => {
  t.match((await stage.whenFinished(await stage.create())).status?.runner?.pod, /^default-/)
  t.strictSame(await podsOfPool(), [])
  t.match(await conditionOf('Ready'), { status: 'True', reason: 'ScaledToZero' })
  const done = await stage.whenFinished(await createVideo({ videoPoster: true }))
  t.match(done.status, { phase: 'Completed', runner: { pod: 'video-0' }, result: { format: 'mp4' } })
  t.match(done.status?.storagePath, /\.mp4$/)
  t.match(await stage.fileOf(done), / attempt 1 on video-0$/)
  t.match(await conditionOf('VideoReady'), { status: 'True', reason: 'VideoAvailable' })
  const { order } = node.orders.at(-1) ?? {}
  t.match(order?.upload.headers, { 'content-type': 'video/mp4' })
  t.match(order?.artifacts, [{ type: 'poster', upload: { headers: { 'content-type': 'image/jpeg' } } }])
  const [pod] = await podsOfPool()
  t.match(pod?.spec?.terminationGracePeriodSeconds, 600)
  t.match(pod?.spec?.containers[0]?.image, /\/capture-runner-video:/)
})

t.test('an account whose pages crash their runners is limited, and does not affect others', { timeout: 120_000 }, async (t) => {
  await createAccount('hostile')
  await stage.setPool({ minIdle: 1, maxPods: 3 })
  const killed = new Set<string>()
  const began = Date.now()
  node.capture = async (order, runner) => {
    if (order.accountName !== 'hostile') return
    killed.add(runner.uid)
    await node.crash(runner, 137)
    await new Promise(() => {})
  }
  const hostile = await Promise.all(Array.from({ length: 9 }, () => stage.create({ accountName: 'hostile' })))
  t.match(await whenReported('hostile', 'HeldBack'), { type: 'Warning', involvedObject: { kind: 'Account' } })
  t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed', attempt: 1 })
  const forgiven = (Date.now() - began) / 1_000 / CRASH_RECOVERY_SECONDS
  t.ok(killed.size <= MAX_CRASHES + forgiven + 1, `${killed.size} runners were killed`)
  t.match(await leader.metrics.registry.metrics(), /screenshot_accounts_held_back_total [1-9]/)
  for (const { metadata } of hostile) await stage.shots.delete(metadata.name)
})
