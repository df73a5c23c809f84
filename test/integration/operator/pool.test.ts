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

t.test('a pool grows with its queue and never exceeds maxPods', async (t) => {
  await stage.setPool({ minIdle: 1, maxPods: 3, targetDrainSeconds: 1 })
  const { promise, resolve } = Promise.withResolvers<void>()
  node.capture = () => promise
  const shots = await Promise.all(Array.from({ length: 6 }, () => stage.create()))
  await eventually('three capture', async () => (await stage.pool()).status?.busy === 3)
  t.equal((await names()).length, 3)
  await eventually('three are queued', async () => (await stage.pool()).status?.queued === 3)
  resolve()
  for (const shot of shots) t.equal((await stage.whenFinished(shot)).status?.phase, 'Completed')
  t.equal(node.runners.size, 3)
})

t.test('a pod serves one capture when the pool is set to that', async (t) => {
  await stage.setPool({ minIdle: 1, capturesPerPod: 1 })
  const pods = []
  for (let n = 0; n < 3; n++) pods.push((await stage.whenFinished(await stage.create())).status?.runner?.uid)
  t.equal(new Set(pods).size, 3)
})

t.test('a deleted pod is replaced', async (t) => {
  await stage.setPool({ minIdle: 1, maxPods: 1 })
  await stage.whenIdle(1)
  const [name = ''] = await names()
  await stage.podClient.delete(name, { gracePeriodSeconds: 0 })
  await eventually('another one exists', async () => {
    const now = await names()
    return now.length === 1 && now[0] !== name
  })
  await stage.whenIdle(1)
  t.not((await names())[0], name)
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

t.test('a pool that cannot grow reports it, keeps working pods, and reports when the problem clears', async (t) => {
  await stage.setPool({ minIdle: 1, maxPods: 3, scaleDownDelaySeconds: 1, targetDrainSeconds: 1 })
  await stage.whenIdle(1)
  const gate = Promise.withResolvers<void>()
  node.capture = () => gate.promise
  node.fullness = '0/2 nodes are available: 2 Insufficient memory.'
  const shots = await Promise.all(Array.from({ length: 4 }, () => stage.create()))
  await eventually('it reports it', async () => (await conditionOf('Scaled'))?.reason === 'Unschedulable')
  t.match(await conditionOf('Scaled'), { status: 'False', message: /Insufficient memory. Add nodes/ })
  t.match(await conditionOf('Ready'), { status: 'True' })
  gate.resolve()
  for (const shot of shots) t.equal((await stage.whenFinished(shot)).status?.phase, 'Completed')
  const [works] = node.runners.values()
  await eventually('the unschedulable pods were deleted', async () => (await names()).length === 1)
  t.strictSame(await names(), [works?.pod])
  await eventually('the problem cleared', async () => (await conditionOf('Scaled'))?.status === 'True')
  t.match(await eventually('an Event reports it', async () => (await reported('default', 'Unschedulable'))[0]), { type: 'Warning' })
  t.match(await eventually('another one reports its end', async () => (await reported('default', 'AsWanted'))[0]), { type: 'Normal' })
  node.fullness = undefined
})

t.test('a template that never works replaces only part of a full pool, and can be reverted at once', async (t) => {
  node.capture = async () => {}
  await stage.setPool({ minIdle: 3, maxPods: 3 })
  await stage.whenIdle(3)
  const before = new Set(await names())
  node.fullness = 'no room'
  await stage.setPool({ minIdle: 3, maxPods: 3, isolation: 'browser' })
  await eventually('one pod of the new template is tried', async () => (await stage.pool()).status?.updated === 1)
  t.match((await stage.whenFinished(await stage.create())).status?.phase, 'Completed')
  t.equal((await names()).filter((name) => before.has(name)).length, 2, 'two of the old ones are left')
  node.fullness = undefined
  await stage.setPool({ minIdle: 3, maxPods: 3, isolation: 'context' })
  await stage.whenIdle(3)
  t.equal((await names()).filter((name) => before.has(name)).length, 2, 'they are current again')
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

t.test('pods are replaced when the template changes, without disturbing a running capture', async (t) => {
  await stage.setPool({ minIdle: 1, maxPods: 3 })
  await stage.whenIdle(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  node.capture = () => promise
  const shot = await stage.create()
  await stage.whenRunning(shot)
  const before = await names()
  await stage.setPool({ minIdle: 1, maxPods: 3, isolation: 'browser' })
  const busy = node.runnerOf(shot.metadata.name)?.pod ?? ''
  await eventually('idle pods are new', async () => {
    const now = await names()
    return now.includes(busy) && now.every((name) => name === busy || !before.includes(name)) && now.length > 1
  })
  resolve()
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 1, runner: { pod: busy } })
  await eventually('the last old pod was deleted', async () => !(await names()).includes(busy))
})

t.test('without the browser’s sandbox a pod serves one account, and the pool and an Event report it', async (t) => {
  node.capture = async () => {}
  node.sandbox = { chromiumSandbox: false, jail: false, detail: 'unshare: operation not permitted' }
  await stage.setPool({ minIdle: 1, maxPods: 4, isolation: 'context' })
  await eventually('the pool reports it', async () => {
    const condition = findCondition((await stage.pool()).status?.conditions, 'Sandboxed')
    return condition?.status === 'False' && /Install the seccomp profile/.test(condition.message)
  })
  await eventually(
    'the old pods were deleted',
    async () => [...node.runners.values()].length > 0 && (await stage.pool()).status?.idle === 1,
  )
  const accountsOf = new Map<string, Set<string>>()
  for (const accountName of ['red', 'blue', 'red', 'green', 'blue']) {
    const done = await stage.whenFinished(await stage.create({ accountName }))
    const uid = done.status?.runner?.uid ?? ''
    accountsOf.set(uid, (accountsOf.get(uid) ?? new Set()).add(accountName))
  }
  for (const accounts of accountsOf.values()) t.equal(accounts.size, 1, [...accounts].join(' and '))
  t.match(await reported('default', 'BrowserNotFenced'), [{ type: 'Warning', message: /unshare/ }])
})

t.test('accounts are served in turn when each needs its own pod and there is room for one', async (t) => {
  await stage.setPool({ minIdle: 1, maxPods: 1 })
  for (const accountName of ['red', 'blue'])
    t.equal((await stage.whenFinished(await stage.create({ accountName }))).status?.phase, 'Completed')
})

t.test('a pool whose pods do not start reports why and does not create them endlessly', async (t) => {
  await stage.setPool({ minIdle: 0, scaleDownDelaySeconds: 0 })
  await eventually('the old pods were deleted', async () => (await names()).length === 0)
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
