import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { run } from '../../cluster/host/exec.ts'
import { eventually } from '../../support/eventually.ts'
import type { Gateway } from '../api-gateway/world.ts'
import { create, startStage, watchAccount } from './stage.ts'

// Three gateway processes over one API server, none of which knows of the others: what is paid for is what exists, and never too much of it.
// It takes more than a minute: a killed gateway counts as dead when its Lease has not been renewed for 30 seconds, and not before.

t.setTimeout(540_000)

const QUOTA = 100
const stage = await startStage(t, {
  free: { monthlyQuota: QUOTA, ratePerMinute: 10_000, overagePricePer1000: undefined, retentionDays: 30, weight: 1 },
})
const { world } = stage
const bookkeeper = await stage.lead()
const gateways = await Promise.all([stage.startGateway(), stage.startGateway(), stage.startGateway()])
const usedBy = async (account: string) => (await world.usages.get(account)).status?.used
const countOf = async (account: string) => (await world.screenshots.listAll()).filter(({ spec }) => spec.accountName === account).length

/** So many requests at once, spread over the gateways; the statuses of those that were answered. */
async function burst(count: number, key: string, at: readonly Gateway[]): Promise<number[]> {
  const answers = await Promise.allSettled(Array.from({ length: count }, (_, index) => create(at[index % at.length]!, key)))
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []))
}

t.test('quota lets exactly as many of 300 parallel creates through three gateways as it has, and no moment has more', async (t) => {
  const key = await stage.createAccount('burst', { plan: 'free' })
  const watched = await watchAccount(t, stage, 'burst')
  const statuses = await burst(300, key, gateways)
  t.strictSame(
    statuses.filter((status) => ![202, 429, 503].includes(status)),
    [],
  )
  t.equal(statuses.filter((status) => status === 202).length, await countOf('burst'), 'each that was accepted exists, and no other')
  // On a machine that is too busy some requests are told to come again: they do.
  await burst(statuses.includes(503) ? 60 : 3, key, gateways)
  t.equal(await countOf('burst'), QUOTA, 'objects')
  t.equal(await usedBy('burst'), QUOTA, 'used')
  const history = await watched.history()
  t.ok(history.length > QUOTA, `${history.length} moments were seen`)
  t.strictSame(
    history.filter(({ objects, used }) => objects > used || used > QUOTA),
    [],
  )
})

t.test('quota is exact again once a killed gateway is known to be dead', async (t) => {
  const key = await stage.createAccount('killed', { plan: 'free' })
  const watched = await watchAccount(t, stage, 'killed')
  const victim = await stage.startGateway()
  const under = burst(150, key, [...gateways.slice(0, 2), victim])
  await eventually('objects begin to exist', async () => (await countOf('killed')) > 5)
  victim.process.kill('SIGKILL')
  await under
  t.ok((await usedBy('killed'))! <= QUOTA)
  // Its Lease runs out after 30 seconds, and the operator settles what it had reserved.
  const settled = () => world.usages.get('killed').then(({ status }) => status)
  const living = new Set((await stage.gatewayLeases.listAll()).map(({ metadata }) => metadata.name))
  t.equal(living.size >= 4, true, 'the control: each process has a Lease of its own')
  await eventually('what the victim held is settled', async () => {
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

t.test('quota refuses a flood from memory: nothing is written', async (t) => {
  const key = await stage.createAccount('flood', { plan: 'free' })
  await burst(QUOTA + 10, key, gateways)
  await sleep(500)
  const before = await world.usages.get('flood')
  const requests = await writesOf()
  t.ok(requests > 3 * QUOTA, 'the control: writes are counted')
  const statuses = await burst(600, key, gateways)
  t.strictSame([...new Set(statuses)], [429])
  t.equal((await world.usages.get('flood')).metadata.resourceVersion, before.metadata.resourceVersion)
  t.equal((await writesOf()) - requests, 0, 'writes of counts and screenshots that the API server has counted')
})

/** Writes that the API server has been asked for. */
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

t.test('operator tells how many reservations it has settled', async (t) => {
  t.match(await bookkeeper.metrics(), /quota_settled_total \d+/)
})
