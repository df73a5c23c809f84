import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { webhookIdOf } from '../../../crds/src/identifiers/ids.ts'
import { missedPrefix, OPEN_PREFIX } from '../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../support/eventually.ts'
import { isFullLength } from '../../support/length.ts'
import { answerWith, startHttpsReceiver } from '../../support/servers/https-receiver.ts'
import { call } from '../api-gateway/client.ts'
import { ACCOUNT, startStage } from './stage.ts'

// What stays of records when the operator is killed, a receiver is down, or the store is unavailable.

const MAX_LIVE = 10
const COUNT = isFullLength ? 400 : 250
const KILLS = isFullLength ? 3 : 2
const directory = t.testdir()
const host = '127.0.0.2'
const receiver = await startHttpsReceiver({ directory, host, names: [`IP:${host}`] })
t.teardown(() => receiver.close())
const stage = await startStage(t, { TINTYPE_RETENTION_MAX_LIVE: String(MAX_LIVE) })
const { world, get, liveIds, listIds } = stage

// Events of records that were archived before their receiver responded. Fewer than ten posts fail, so the circuit breaker stays closed.
const authority = join(directory, 'authority.crt')
await writeFile(authority, receiver.ca)
const startOperator = (retryDelays: string) =>
  stage.startOperator({
    TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    TINTYPE_WEBHOOK_EXTRA_CA_FILE: authority,
    TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: retryDelays,
  })

/** Ids of the events that the receiver accepted. */
const accepted: string[] = []
const setDown = (isDown: boolean) => {
  receiver.answer = (request, response) => {
    if (!isDown) accepted.push(String(request.headers['webhook-id']))
    return answerWith(isDown ? 503 : 200)(request, response)
  }
}
let id = ''
const isArchived = async () => (await stage.liveIds()).length === 0

t.test('events of archived records arrive, although their receiver was down and the operator was killed', async (t) => {
  setDown(true)
  // Long enough for the operator to archive everything before the last attempt.
  const delays = '6000,60000'
  const first = await startOperator(delays)
  id = webhookIdOf((await stage.subscribe(ACCOUNT, receiver.url)).metadata)
  const ids = await stage.addRecords(3, () => ({ hasFile: false }))
  await eventually('all are archived while the receiver is down', isArchived)
  await stage.kill(first)
  const open = await stage.keysUnder(OPEN_PREFIX)
  t.equal(open.length, ids.length)
  setDown(false)
  const second = await startOperator(delays)
  await eventually('all events have arrived', async () => new Set(accepted).size === ids.length)
  await eventually('no delivery is open', async () => (await stage.keysUnder(OPEN_PREFIX)).length === 0)
  t.equal(accepted.length, ids.length, 'each once')
  t.equal(await second.end('SIGTERM'), 0)
})

t.test('one call delivers the events that were missed, each once', async (t) => {
  setDown(true)
  accepted.length = 0
  const operator = await startOperator('300,300')
  await stage.addRecords(2, () => ({ hasFile: false }))
  await eventually('both are missed', async () => (await stage.keysUnder(missedPrefix(ACCOUNT, id))).length === 2)
  t.match((await stage.get(`/webhooks/${id}`)).body.data.statistics, { missed_deliveries: 2, pending_deliveries: 0 })
  setDown(false)
  const response = await call(`${stage.gateway.url}/v1/webhooks/${id}/redeliver-missed`, { method: 'POST', key: stage.key })
  t.match({ status: response.status, data: response.body.data }, { status: 202, data: { missed_deliveries: 2 } })
  await eventually('both have arrived', async () => accepted.length >= 2)
  await eventually('nothing is left', async () => (await stage.keysUnder('undelivered/')).length === 0)
  t.equal(accepted.length, 2)
  await operator.end('SIGTERM')
})

t.test('no record is lost or duplicated when the operator is killed between any two steps', async (t) => {
  await stage.switchAccount('kill')
  const ids = await stage.addRecords(COUNT, () => ({ hasFile: false }))
  await eventually('the gateway has seen all', async () => (await listIds('&status=completed')).length === COUNT)
  for (let kill = 1; kill <= KILLS; kill++) {
    const before = (await liveIds()).length
    const operator = await stage.startOperator()
    // During a batch: some are written and deleted, some only written, some neither.
    await eventually('it archives', async () => (await liveIds()).length < before).catch((cause: unknown) => {
      throw new Error(operator.output(), { cause })
    })
    await stage.kill(operator)
    const left = (await liveIds()).length
    t.comment(`${before - left} archived when it was killed, ${left} left`)
    t.strictSame(await listIds(), ids, `the list is complete after kill ${kill}`)
    t.equal((await get(`/screenshots/${ids[kill]}`)).status, 200)
    if (left === 0) break
  }
  const operator = await stage.startOperator()
  await eventually('all are archived', async () => (await liveIds()).length === 0)
  t.strictSame(await listIds(), ids)
  const answers = await Promise.all(ids.slice(0, 100).map(async (id) => (await get(`/screenshots/${id}`)).status))
  t.ok(answers.every((status) => status === 200))
  t.equal(await operator.end('SIGTERM'), 0)
})

const create = () => call(`${stage.gateway.url}/v1/screenshots`, { method: 'POST', key: stage.key, body: { url: 'https://example.com/' } })

t.test('above the limit, records are archived early, earliest end first', async (t) => {
  await stage.switchAccount('early')
  const inOrder: string[] = []
  for (let n = 0; n < MAX_LIVE + 5; n++) inOrder.push(await stage.addRecord({ hasFile: false }))
  const operator = await stage.startOperator({ TINTYPE_RETENTION_LIVE_FOR_SECONDS: '3600', TINTYPE_RETENTION_MAX_LIVE: String(MAX_LIVE) })
  await eventually('some are archived', async () => (await liveIds()).length < inOrder.length)
  await operator.end('SIGTERM')
  // A tenth below the limit, so that not every new record archives an old one.
  t.strictSame(await liveIds(), inOrder.slice(-MAX_LIVE + 1).sort())
  t.strictSame(await listIds(), inOrder.toSorted())
  for (const id of inOrder) await world.screenshots.delete(id.replace('_', '-')).catch(() => {})
})

t.test('while the store is unavailable nothing is archived or lost, and above twice the limit requests are rejected', async (t) => {
  await stage.switchAccount('away')
  const ids = await stage.addRecords(MAX_LIVE, () => ({}))
  await eventually('the gateway has seen them', async () => (await listIds('&status=completed')).length === MAX_LIVE)
  await world.store.freeze()
  const operator = await stage.startOperator()
  await eventually('it leads', () => operator.isLeader())
  await eventually('it has tried', async () => operator.output().includes('reconcile failed; will retry'))
  t.strictSame(await liveIds(), ids)
  t.equal((await get(`/screenshots/${ids[0]}`)).status, 200)
  t.equal((await create()).status, 202, 'there is room')

  ids.push(...(await stage.addRecords(MAX_LIVE, () => ({ hasFile: false }))))
  const refused = await eventually('the limit is reached', async () => {
    const answer = await create()
    return answer.status === 503 && answer
  })
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  t.equal((await get(`/screenshots/${ids[MAX_LIVE]}`)).status, 200)

  await world.store.thaw()
  await eventually('the finished ones are archived', async () => {
    const live = await liveIds()
    return ids.every((id) => !live.includes(id))
  })
  await eventually('requests are accepted again', async () => (await create()).status === 202)
  const listed = await listIds('&status=completed')
  t.strictSame(listed, ids.sort())
})
