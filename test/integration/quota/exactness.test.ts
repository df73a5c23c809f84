import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { mergePatch, type NewObject } from '../../../crds/client/resource.ts'
import type { AccountUsage } from '../../../crds/src/kinds/account.ts'
import { monthOf } from '../../../crds/src/usage/usage.ts'
import { run } from '../../cluster/host/exec.ts'
import { eventually } from '../../support/eventually.ts'
import { commandsOf, readText } from '../../support/sources/code-blocks.ts'
import { call } from '../api-gateway/client.ts'
import type { Gateway } from '../api-gateway/world.ts'
import { create, startStage, watchAccount } from './stage.ts'

// Three independent gateway processes with one API server: exactly the created objects are charged, and never more than the quota. It takes
// more than two minutes: a killed gateway counts as ended a minute after its Lease has expired, as a create may succeed so late.

t.setTimeout(540_000)

const QUOTA = 100
const plan = { ratePerMinute: 10_000, overagePricePer1000: undefined, retentionDays: 30, weight: 1 }
const stage = await startStage(t, { free: { ...plan, monthlyQuota: QUOTA }, growth: { ...plan, monthlyQuota: 2 } })
const { world } = stage
const gateways = await Promise.all([stage.startGateway(), stage.startGateway(), stage.startGateway()])
const [gateway] = gateways
const usedBy = async (account: string) => (await world.usages.get(account)).status?.used
const countOf = async (account: string) => (await world.screenshots.listAll()).filter(({ spec }) => spec.accountName === account).length

/** Sends `count` requests at once, spread over the gateways. Returns the statuses of the responses. */
async function burst(count: number, key: string, at: readonly Gateway[]): Promise<number[]> {
  const answers = await Promise.allSettled(Array.from({ length: count }, (_, index) => create(at[index % at.length]!, key)))
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []))
}

t.test('quota accepts exactly as many of 300 parallel creates through three gateways as it allows, and is never exceeded', async (t) => {
  const key = await stage.createAccount('burst', { plan: 'free' })
  const watched = await watchAccount(t, stage, 'burst')
  const statuses = await burst(300, key, gateways)
  t.strictSame(
    statuses.filter((status) => ![202, 429, 503].includes(status)),
    [],
  )
  t.equal(statuses.filter((status) => status === 202).length, await countOf('burst'), 'each accepted one exists, and no other')
  // On a busy machine some requests get a response to retry later: retry them.
  await burst(statuses.includes(503) ? 60 : 3, key, gateways)
  t.equal(await countOf('burst'), QUOTA, 'objects')
  t.equal(await usedBy('burst'), QUOTA, 'used')
  const history = await watched.history()
  t.ok(history.length > QUOTA, `${history.length} states were seen`)
  t.strictSame(
    history.filter(({ objects, used }) => objects > used || used > QUOTA),
    [],
  )
})

t.test('quota is exact again once a killed gateway is known to have ended', async (t) => {
  const key = await stage.createAccount('killed', { plan: 'free' })
  const watched = await watchAccount(t, stage, 'killed')
  const victim = await stage.startGateway()
  const under = burst(150, key, [...gateways.slice(0, 2), victim])
  await eventually('objects are being created', async () => (await countOf('killed')) > 5)
  victim.process.kill('SIGKILL')
  await under
  t.ok((await usedBy('killed'))! <= QUOTA)
  // Its Lease expires after 30 seconds, and the operator settles its reservations a minute later.
  const settled = () => world.usages.get('killed').then(({ status }) => status)
  const living = new Set((await stage.gatewayLeases.listAll()).map(({ metadata }) => metadata.name))
  t.equal(living.size >= 4, true, 'control: each process has its own Lease')
  await eventually(
    'the reservations of the killed gateway are settled',
    async () => {
      const status = await settled()
      return status?.used === (await countOf('killed'))
    },
    240_000,
  )
  await burst(120, key, gateways)
  t.equal(await countOf('killed'), QUOTA, 'objects')
  t.equal(await usedBy('killed'), QUOTA, 'used')
  t.strictSame(
    (await watched.history()).filter(({ objects, used }) => objects > used || used > QUOTA),
    [],
  )
})

t.test('quota rejects a flood from memory, without writes', async (t) => {
  const key = await stage.createAccount('flood', { plan: 'free' })
  await burst(QUOTA + 10, key, gateways)
  await sleep(500)
  const before = await world.usages.get('flood')
  const requests = await writesOf()
  t.ok(requests > 3 * QUOTA, 'control: writes are counted')
  const statuses = await burst(600, key, gateways)
  t.strictSame([...new Set(statuses)], [429])
  t.equal((await world.usages.get('flood')).metadata.resourceVersion, before.metadata.resourceVersion)
  t.equal((await writesOf()) - requests, 0, 'writes of usages and screenshots that the API server has counted')
})

/** Number of write requests to the API server. */
async function writesOf(): Promise<number> {
  const { programs, kubeconfigPath } = world.plane
  const text = await run(path.join(programs, 'kubectl'), ['--kubeconfig', kubeconfigPath, 'get', '--raw', '/metrics'])
  return text
    .split('\n')
    .filter(
      (line) =>
        /^apiserver_request_total\{/.test(line) &&
        /resource="(accountusages|screenshots)"/.test(line) &&
        /verb="(POST|PUT|PATCH|DELETE)"/.test(line),
    )
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

t.test('the documented command changes the plan of the first account at once', async (t) => {
  const command = commandsOf(readText('docs/operations.md')).find((line) => line.includes('patch account default')) ?? ''
  const json = /^kubectl -n tintype patch account default --type=merge -p '(.*)'$/.exec(command)?.[1] ?? ''
  const key = await stage.createAccount('default', { plan: 'free' })
  const report = async () => (await call(`${gateway.url}/v1/usage/current`, { key })).body.data
  t.match(await report(), { plan: 'free', limit: QUOTA })
  const { programs, kubeconfigPath } = world.plane
  await run(path.join(programs, 'kubectl'), ['--kubeconfig', kubeconfigPath, 'patch', 'account', 'default', '--type=merge', '-p', json])
  await eventually('the gateway uses the new plan', async () => (await report()).plan === 'growth' && (await report()).limit === 2)
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
  t.match((await world.usages.get('polite')).status?.reservations, [{ gateway: after[0] }], 'control: it holds one')
  t.equal(await other.stop(), 0)
  t.strictSame((await world.usages.get('polite')).status?.reservations, [])
  t.notOk(await stage.gatewayLeases.find(after[0]!))
})

t.test('gateway waits for the usage of an account to be created, and reports a timeout', async (t) => {
  await stage.stopOperator()
  await world.accounts.create({ metadata: { name: 'new' }, spec: { plan: 'free' } } as Parameters<typeof world.accounts.create>[0])
  const key = await world.createKey({ accountName: 'new' })
  const { status, headers, body } = await create(gateway, key)
  t.equal(status, 503)
  t.ok(headers.get('retry-after'))
  t.match(body.error.message, /not set up yet/)
  const begun = create(gateway, key)
  await world.usages.create({ metadata: { name: 'new' }, spec: { limit: 5 } } as NewObject<AccountUsage>)
  await world.usages.patch('new', mergePatch({ status: { period: monthOf(new Date()), used: 0 } }), { subresource: 'status' })
  t.equal((await begun).status, 202)
})
