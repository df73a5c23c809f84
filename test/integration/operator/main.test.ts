import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { storeOptions } from '../../../api-gateway/src/options/store-options.ts'
import {
  accounts,
  accountUsages,
  apiKeys,
  events,
  screenshotSchedules,
  screenshots,
  secrets,
  webhooks,
} from '../../../crds/client/kinds.ts'
import { mergePatch, type NewObject, Resource } from '../../../crds/client/resource.ts'
import { SealingKey } from '../../../crds/src/crypto/sealed.ts'
import { RUNNER_PORT } from '../../../crds/src/identifiers/names.ts'
import type { Account } from '../../../crds/src/kinds/account.ts'
import type { ScreenshotSchedule, ScreenshotScheduleSpec } from '../../../crds/src/kinds/screenshot-schedule.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { eventually } from '../../support/eventually.ts'
import { startHttpsReceiver } from '../../support/servers/https-receiver.ts'
import { NAMESPACE } from '../admission/release.ts'
import { shortLease, startProgram } from './program.ts'
import { startStage } from './stage.ts'

// Operators as programs, with the chart's permissions.

const directory = t.testdir()
const receiver = await startHttpsReceiver({ directory, host: '127.0.0.2', names: ['IP:127.0.0.2'] })
t.teardown(() => receiver.close())
const authority = join(directory, 'extra-ca.pem')
await writeFile(authority, receiver.ca)
const stage = await startStage(t, { runnerPort: RUNNER_PORT })
const { node } = stage
const { admin } = stage.release
const accountStore = new Resource(admin, accounts)
const usages = new Resource(admin, accountUsages)
const schedules = new Resource(admin, screenshotSchedules)
const recorded = new Resource(admin, events)
const account = await stage.release.podAccountOf('tintype-operator')
await stage.setPool({ minIdle: 1, maxPods: 2 })

const start = (name: string, kubeconfig?: string) =>
  startProgram(
    t,
    {
      ...stage.environment,
      ...shortLease,
      ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
      TINTYPE_POD_NAME: name,
      TINTYPE_POD_UID: `uid-of-${name}`,
      TINTYPE_BOOTSTRAP_PLAN: 'scale',
      TINTYPE_LOG_LEVEL: 'debug',
      TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      TINTYPE_WEBHOOK_EXTRA_CA_FILE: authority,
    },
    account,
  )
const replicas = [await start('one'), await start('two')]
const isReady = async (replica: (typeof replicas)[number]) => (await replica.get('/readyz')).status === 200

async function theLeader() {
  return eventually('one of them leads', async () => {
    const leading = await Promise.all(replicas.map((replica) => replica.isLeader()))
    return leading.filter(Boolean).length === 1 && replicas[leading.indexOf(true)]
  })
}

t.test('both replicas are ready, and one of them leads', async (t) => {
  for (const replica of replicas) await eventually('it is ready', () => isReady(replica))
  await theLeader()
  for (const replica of replicas) t.match(await replica.get('/healthz'), { status: 200, text: 'ok\n' })
})

t.test('the leader creates the first account with its key, once', async (t) => {
  const [account] = await eventually('an account exists', async () => {
    const { items } = await accountStore.list()
    return items.length > 0 && items
  })
  t.equal(account?.spec.plan, 'scale')
  t.equal((await new Resource(admin, apiKeys).list()).items.length, 1)
  const { data } = await new Resource(admin, secrets).get('tintype-initial-api-key')
  t.match(Buffer.from(data?.['api-key'] ?? '', 'base64').toString(), /^ttk_/)
})

// Scheduled runs from the due time to the webhook. Only the captures are simulated.

async function createAccount(name: string): Promise<void> {
  await accountStore.create({ metadata: { name }, spec: { plan: 'free' } } as NewObject<Account>)
  await eventually('its usage exists', async () => (await usages.find(name))?.status?.period !== undefined)
}
const usedOf = async (name: string) => (await usages.get(name)).status?.used ?? 0

const HOUR_MILLISECONDS = 3_600_000
const started = Date.now()
/** The start of a minute, so many hours before the test. */
const hoursAgo = (hours: number): Date => new Date(Math.floor((started - hours * HOUR_MILLISECONDS) / 60_000) * 60_000)
/** An expression that matches only this minute of a year. */
const cronOf = (at: Date): string => `${at.getUTCMinutes()} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`

/** Creates a schedule whose runs before `hours` ago are done. */
async function createSchedule(name: string, accountName: string, spec: Partial<ScreenshotScheduleSpec> = {}): Promise<void> {
  await schedules.create({
    metadata: { name },
    spec: { accountName, schedule: cronOf(hoursAgo(10)), suspend: true, template: { url: 'https://example.com/' }, ...spec },
  })
  await schedules.patch(name, mergePatch({ status: { lastScheduleTime: hoursAgo(10).toISOString() } }), { subresource: 'status' })
}
/** Makes a run due that should have started so many hours ago. */
async function makeDue(name: string, hours: number): Promise<void> {
  const schedule = cronOf(hoursAgo(hours))
  // As if the operator had seen the expression before: a change starts no run for an earlier time.
  await schedules.patch(name, mergePatch({ status: { timing: { schedule, since: null } } }), { subresource: 'status' })
  await schedules.patch(name, mergePatch({ spec: { suspend: false, schedule } }))
}
const whenSchedule = (name: string, what: string, test: (schedule: ScreenshotSchedule) => boolean) =>
  eventually(`${name} ${what}`, async () => {
    const schedule = await schedules.get(name)
    return test(schedule) && schedule
  })
/** Lets a run happen. Returns the schedule afterwards. */
async function run(name: string, hours: number): Promise<ScreenshotSchedule> {
  await makeDue(name, hours)
  const time = hoursAgo(hours).getTime()
  return whenSchedule(name, 'has run', ({ status }) => Date.parse(status?.recentRuns?.[0]?.time ?? '') === time)
}
const eventsOf = async (name: string, reason: string) =>
  (await recorded.listAll({ fieldSelector: `involvedObject.name=${name}` })).filter((event) => event.reason === reason)

t.test('a change reaches webhooks, and each run is charged once', async (t) => {
  await createAccount('acme')
  const hooks = new Resource(admin, webhooks)
  await hooks.create({
    metadata: { name: 'alerts' },
    spec: { accountName: 'acme', url: `${receiver.url}/alerts`, events: ['screenshot.changed'] },
  })
  await eventually('the webhook is active', async () => (await hooks.get('alerts')).status?.activeSince !== undefined)
  await createSchedule('changes', 'acme', { comparison: {} })
  const first = await run('changes', 9)
  t.match(first.status, { baseline: { id: first.status?.recentRuns?.[0]?.id }, recentRuns: [{ outcome: 'completed' }] })
  const region = { x: 1, y: 2, width: 3, height: 4 }
  node.findings = ({ baseline }) =>
    baseline ? { comparison: { changed: true, changedPixels: 12, changedRatio: 0.5, regions: [region] } } : {}
  const changed = await run('changes', 8)
  const [{ id } = { id: '' }] = changed.status?.recentRuns ?? []
  t.match(changed.status, { baseline: { id }, lastComparison: { id, to: first.status?.baseline?.id, changed: true } })
  node.findings = ({ baseline }) => (baseline ? { comparison: { changed: false, changedPixels: 0, changedRatio: 0 } } : {})
  t.match((await run('changes', 7)).status?.lastComparison, { changed: false, to: id })
  const [post] = await receiver.whenReceived(1)
  t.match(JSON.parse(post?.body.toString() ?? ''), {
    type: 'screenshot.changed',
    data: { screenshot: { id, comparison: { to: first.status?.baseline?.id, changed: true, changed_ratio: 0.5, regions: [region] } } },
  })
  t.equal(receiver.received.length, 1)
  await eventually('the change is an Event', async () => (await eventsOf('changes', 'Changed')).length === 1)
  t.equal(await usedOf('acme'), 3)
})

t.test('a standby takes over when the leader is killed: its scheduled run is charged once, and the next one is compared', async (t) => {
  const leader = await theLeader()
  const gate = Promise.withResolvers<void>()
  node.capture = () => gate.promise
  const orders = node.orders.length
  await makeDue('changes', 6)
  await eventually('the run is captured', async () => node.orders.length > orders)
  await leader.end('SIGKILL')
  replicas.splice(replicas.indexOf(leader), 1)
  await theLeader()
  gate.resolve()
  const time = hoursAgo(6).getTime()
  await whenSchedule('changes', 'has run', ({ status }) => Date.parse(status?.recentRuns?.[0]?.time ?? '') === time)
  t.equal(node.orders.length, orders + 1)
  node.capture = async () => {}
  const next = await run('changes', 5)
  t.match(next.status?.lastComparison, { changed: false, to: next.status?.recentRuns?.[1]?.id })
  t.equal(await usedOf('acme'), 5)
})

t.test('an Account, a pool, a Webhook, a key, a Screenshot and a schedule with the longest names work together', async (t) => {
  const [account, poolName] = ['a'.repeat(63), 'p'.repeat(54)]
  const [hook, key, page, schedule] = [`w.${'w'.repeat(236)}`, `k.${'k'.repeat(251)}`, `h.${'h'.repeat(251)}`, `s.${'s'.repeat(251)}`]
  const template = { url: 'https://example.com/', poolName }
  await createAccount(account)
  const shot = await stage.shots.create({ metadata: { name: page }, spec: { ...template, accountName: account } })
  await eventually('an Event about it exists', async () => (await eventsOf(page, 'PoolNotFound')).length === 1)
  const { podTemplate } = (await stage.pool()).spec
  await stage.poolClient.create({ metadata: { name: poolName }, spec: { podTemplate, minIdle: 1, maxPods: 1 } })
  const hooks = new Resource(admin, webhooks)
  const posts = receiver.received.length
  await hooks.create({
    metadata: { name: hook },
    spec: { accountName: account, url: `${receiver.url}/longest`, events: ['screenshot.completed'] },
  })
  await eventually('the webhook is active', async () => (await hooks.get(hook)).status?.activeSince !== undefined)
  const keys = new Resource(admin, apiKeys)
  await keys.create({ metadata: { name: key }, spec: { accountName: account, secretName: 'longest' } })
  await eventually('the key works', async () => findCondition((await keys.get(key)).status?.conditions, 'Ready')?.status === 'True')
  t.equal((await stage.whenFinished(shot)).status?.phase, 'Completed')
  await createSchedule(schedule, account, { template })
  t.match((await run(schedule, 9)).status, { recentRuns: [{ outcome: 'completed' }] })
  const bodies = (await receiver.whenReceived(posts + 2)).slice(posts).map(({ path, body }) => ({ path, ...JSON.parse(body.toString()) }))
  t.match(bodies, [
    { path: '/longest', type: 'screenshot.completed' },
    { path: '/longest', type: 'screenshot.completed' },
  ])
  t.equal(await usedOf(account), 2)
  const { status } = await stage.poolClient.get(poolName)
  t.equal(findCondition(status?.conditions, 'Ready')?.status, 'True')
})

t.test('an operator never reveals sealed options: not in logs, metrics, Events and statuses', async (t) => {
  const secret = 'Zq7planted7Secret'
  const { data = {} } = await new Resource(admin, secrets).get('tintype-sealing-key')
  const sealingKey = SealingKey.parse(JSON.parse(Buffer.from(data['public.json'] ?? '', 'base64').toString()))
  const gateway = new Resource((await stage.release.asPod('tintype-api-gateway', 'gateway-1')).http, screenshots)
  const create = async (subject: string, sealedFor = subject) => {
    const sealed = { privateOptions: { authorization: `Bearer ${secret}` }, account: 'default', url: 'https://example.com/' }
    const stored = await storeOptions(
      { ...sealed, subject: sealedFor },
      { sealingKey: () => sealingKey, objects: { write: async () => 'x' } },
    )
    return stage.whenFinished(await gateway.create({ metadata: { name: subject }, spec: { url: sealed.url, ...stored } }))
  }
  t.match((await create('used')).status, { phase: 'Completed' })
  t.match((await create('stolen', 'used')).status, { phase: 'Failed', result: { error: { code: 'INVALID_OPTIONS' } } })
  const order = node.orders.find((sent) => sent.order.name === 'used')
  t.equal(order?.order.privateOptions?.authorization, `Bearer ${secret}`, 'control: the runner receives it')
  const leader = await theLeader()
  const places = {
    log: leader.output(),
    metrics: (await leader.get('/metrics')).text,
    events: JSON.stringify(await recorded.listAll()),
    objects: JSON.stringify(await stage.shots.listAll()),
  }
  for (const [place, text] of Object.entries(places)) t.notOk(text.includes(secret), place)
})

// test/integration/chart/monitoring.test.ts has the metrics of the dashboard and the alerts.
t.test('the leader reports how long its work queues have been busy', async (t) => {
  const { text } = await (await theLeader()).get('/metrics')
  t.match(text, /^workqueue_unfinished_work_seconds\{name="screenshot",controller="screenshot"\} /m)
})

t.test('an operator that is stopped releases the lease and exits with 0', async (t) => {
  const leader = await theLeader()
  const other = await start('three')
  await eventually('the third is ready', () => isReady(other))
  replicas.push(other)
  t.equal(await leader.end('SIGTERM'), 0, leader.output().slice(-2_000))
  replicas.splice(replicas.indexOf(leader), 1)
  t.equal(await theLeader(), other)
})

t.test('an operator without read permissions does not become the leader', async (t) => {
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`
  const role = await admin.request<{ rules: { resources: string[] }[] }>({ method: 'GET', path: `${roles}/roles/tintype-operator` })
  const rules = role.rules.map((rule) => ({ ...rule, resources: rule.resources.filter((resource) => resource !== 'accountusages') }))
  await admin.request({
    method: 'POST',
    path: `${roles}/roles`,
    body: { metadata: { name: 'blind' }, rules: rules.filter(({ resources }) => resources.length > 0) },
  })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'blind' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'blind' }]
  await admin.request({ method: 'POST', path: `${roles}/rolebindings`, body: { metadata: { name: 'blind' }, roleRef, subjects } })
  const blind = await start('blind', await stage.release.plane.kubeconfigFor('blind'))
  await eventually('it reports the cache that it may not read', async () => /cache of usages/.test((await blind.get('/readyz')).text))
  const leader = await theLeader()
  await leader.end('SIGTERM')
  replicas.splice(replicas.indexOf(leader), 1)
  const next = await start('four')
  replicas.push(next)
  t.equal(await theLeader(), next)
  t.equal(await blind.isLeader(), false)
})
