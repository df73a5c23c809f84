import t from 'tap'
import { accounts } from '../../../crds/client/kinds.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { CRASH_RECOVERY_SECONDS, MAX_CRASHES } from '../../../operator/src/scheduling/crash-budget.ts'
import { eventually } from '../../support/eventually.ts'
import { withContainer } from './node.ts'
import { startStage } from './stage.ts'

const plans = { ...DEFAULT_PLANS, scale: { ...DEFAULT_PLANS.scale, poolName: 'large' } }
const stage = await startStage(t, { environment: { TINTYPE_PLANS: JSON.stringify(plans) } })
const { node } = stage
const operator = await stage.lead()

/** Events about an object with a reason. */
const reported = async (name: string, reason: string) => (await stage.eventsOf(name)).filter((event) => event.reason === reason)
const conditionOf = async (type: string) => findCondition((await stage.pool()).status?.conditions, type)

const names = async () => (await stage.poolPods()).map(({ metadata }) => metadata.name).sort()
async function removePods(): Promise<void> {
  await stage.setPool({ minIdle: 0, scaleDownDelaySeconds: 0 })
  await eventually('the old pods were deleted', async () => (await names()).length === 0)
}

t.test('a pool creates minIdle pods that the Pod Security level of the namespace admits', async (t) => {
  await stage.setPool({ minIdle: 2 })
  await stage.whenIdle(2)
  t.equal((await names()).length, 2)
  const { status } = await stage.pool()
  t.match(status, { replicas: 2, busy: 0, queued: 0, selector: 'tintype.dev/pool=default' })
  for (const type of ['Ready', 'Sandboxed', 'Guarded']) t.equal(findCondition(status?.conditions, type)?.status, 'True', type)
})

t.test('kubectl scale sets the number of idle pods', async (t) => {
  await stage.poolClient.patch('default', mergePatch({ spec: { replicas: 3 } }), { subresource: 'scale' })
  t.equal((await stage.pool()).spec.minIdle, 3)
  await stage.whenIdle(3)
  await stage.setPool({ minIdle: 1, scaleDownDelaySeconds: 0 })
  await stage.whenIdle(1)
  await eventually('two pods were deleted', async () => (await names()).length === 1)
})

t.test('a Screenshot without a pool uses the pool of its account’s plan, and moves when the plan changes', async (t) => {
  const client = new Resource(stage.release.admin, accounts)
  await client.create({ metadata: { name: 'rich' }, spec: { plan: 'scale' } })
  const { spec } = await stage.pool()
  const shot = await stage.create({ accountName: 'rich' })
  await stage.when(shot, 'waits for the pool', ({ status }) => findCondition(status?.conditions, 'Succeeded')?.reason === 'PoolNotFound')
  await stage.poolClient.create({ metadata: { name: 'large' }, spec: { ...spec, minIdle: 0, maxPods: 1 } })
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', runner: { pod: 'large-0' } })
  t.match((await stage.whenFinished(await stage.create({ accountName: 'rich', poolName: 'default' }))).status?.runner?.pod, /^default-/)
  await stage.poolClient.delete('large')
  const next = await stage.create({ accountName: 'rich' })
  await client.patch('rich', mergePatch({ spec: { plan: 'free' } }))
  t.match((await stage.whenFinished(next)).status?.runner?.pod, /^default-/)
})

t.test('pods that the API server rejects are reported with its message', async (t) => {
  const { podTemplate } = (await stage.pool()).spec
  await stage.setPool({ minIdle: 1, podTemplate: { ...podTemplate, priorityClassName: 'missing' } })
  await stage.poolClient.patch('default', mergePatch({ spec: { minIdle: 4 } }))
  await eventually('the pool reports it', async () => (await conditionOf('Scaled'))?.reason === 'PodsRefused')
  t.match(await conditionOf('Scaled'), { status: 'False', message: /no PriorityClass with name missing/ })
  await stage.poolClient.patch('default', mergePatch({ spec: { podTemplate: { priorityClassName: null } } }))
  await stage.setPool({ minIdle: 1 })
  await stage.whenIdle(1)
  t.match(await conditionOf('Ready'), { status: 'True' })
})

t.test('an account whose pages crash their runners is limited, and does not affect others', { timeout: 120_000 }, async (t) => {
  await new Resource(stage.release.admin, accounts).create({ metadata: { name: 'hostile' }, spec: { plan: 'growth' } })
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
  const [first] = await eventually('an Event reports it', async () => {
    const found = await reported('hostile', 'HeldBack')
    return found.length > 0 && found
  })
  t.match(first, { type: 'Warning', involvedObject: { kind: 'Account' } })
  t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed', attempt: 1 })
  const forgiven = (Date.now() - began) / 1_000 / CRASH_RECOVERY_SECONDS
  t.ok(killed.size <= MAX_CRASHES + forgiven + 1, `${killed.size} runners were killed`)
  t.match(await operator.metrics.registry.metrics(), /screenshot_accounts_held_back_total [1-9]/)
  for (const { metadata } of hostile) await stage.shots.delete(metadata.name)
})

t.test('without the browser’s sandbox a pod serves one account, and the pool and an Event report it', async (t) => {
  await removePods()
  node.capture = async () => {}
  node.sandbox = { chromiumSandbox: false, jail: false, detail: 'unshare: operation not permitted' }
  await stage.setPool({ minIdle: 1, maxPods: 4 })
  await eventually('the pool reports it', async () => {
    const condition = findCondition((await stage.pool()).status?.conditions, 'Sandboxed')
    return condition?.status === 'False' && /Install the seccomp profile/.test(condition.message)
  })
  await stage.whenIdle(1)
  const accountsOf = new Map<string, Set<string>>()
  for (const accountName of ['red', 'blue', 'red', 'green', 'blue']) {
    const done = await stage.whenFinished(await stage.create({ accountName }))
    const uid = done.status?.runner?.uid ?? ''
    accountsOf.set(uid, (accountsOf.get(uid) ?? new Set()).add(accountName))
  }
  for (const accounts of accountsOf.values()) t.equal(accounts.size, 1, [...accounts].join(' and '))
  t.match(await reported('default', 'BrowserNotFenced'), [{ type: 'Warning', message: /unshare/ }])
})

t.test('a pool whose pods do not start reports why and does not create them endlessly', async (t) => {
  await removePods()
  node.keepsUnready = true
  node.sandbox = { chromiumSandbox: true, jail: true, detail: '' }
  await stage.setPool({ minIdle: 2, maxPods: 2, isolation: 'browser' })
  const failed = mergePatch({ status: { phase: 'Failed', ...withContainer({ terminated: { exitCode: 1, reason: 'Error' } }) } })
  const kill = async () => {
    for (const { metadata } of await stage.poolPods())
      await stage.podClient.patch(metadata.name, failed, { subresource: 'status' }).catch(() => {})
  }
  const seen = new Set<string | undefined>()
  const until = Date.now() + 4_000
  while (Date.now() < until) {
    for (const { metadata } of await stage.poolPods()) seen.add(metadata.uid)
    await kill()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.ok(seen.size <= 12, `${seen.size} pods in 4 s`)
  const ready = findCondition((await stage.pool()).status?.conditions, 'Ready')
  t.match(ready, { status: 'False', reason: 'RunnersFailing', message: /exit code 1/ })
})
