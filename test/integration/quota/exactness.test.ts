import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { run } from '../../cluster/host/exec.ts'
import { eventually } from '../../support/eventually.ts'
import type { Gateway } from '../api-gateway/world.ts'
import { create, startStage, watchAccount } from './stage.ts'

// Three independent gateway processes with one API server: exactly the created objects are charged, and never more than the quota. It takes
// more than a minute: a killed gateway counts as ended only when its Lease has not been renewed for 30 seconds.

t.setTimeout(540_000)

const QUOTA = 100
const stage = await startStage(t, {
  free: { monthlyQuota: QUOTA, ratePerMinute: 10_000, overagePricePer1000: undefined, retentionDays: 30, weight: 1 },
})
const { world } = stage
const quotaOperator = await stage.lead()
const gateways = await Promise.all([stage.startGateway(), stage.startGateway(), stage.startGateway()])
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
  // Its Lease expires after 30 seconds, and the operator settles its reservations.
  const settled = () => world.usages.get('killed').then(({ status }) => status)
  const living = new Set((await stage.gatewayLeases.listAll()).map(({ metadata }) => metadata.name))
  t.equal(living.size >= 4, true, 'control: each process has its own Lease')
  await eventually('the reservations of the killed gateway are settled', async () => {
    const status = await settled()
    return status?.used === (await countOf('killed'))
  })
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

t.test('operator counts the reservations that it has settled', async (t) => {
  t.match(await quotaOperator.metrics(), /quota_settled_total \d+/)
})
