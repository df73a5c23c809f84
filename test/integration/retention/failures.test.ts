import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { OPEN_PREFIX } from '../../../crds/src/records/storage-keys.ts'
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
const startOperator = () =>
  stage.startOperator({
    TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    TINTYPE_WEBHOOK_EXTRA_CA_FILE: authority,
    // Long enough for the operator to archive everything before the last attempt.
    TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: '6000,60000',
  })

/** Ids of the events that the receiver accepted. */
const accepted: string[] = []
const setDown = (isDown: boolean) => {
  receiver.answer = (request, response) => {
    if (!isDown) accepted.push(String(request.headers['webhook-id']))
    return answerWith(isDown ? 503 : 200)(request, response)
  }
}

t.test('events of archived records arrive, although their receiver was down and the operator was killed', async (t) => {
  setDown(true)
  const first = await startOperator()
  await stage.subscribe(ACCOUNT, receiver.url)
  const ids = await stage.addRecords(3, () => ({ hasFile: false }))
  await eventually('all are archived while the receiver is down', async () => (await liveIds()).length === 0)
  await stage.kill(first)
  const open = await stage.keysUnder(OPEN_PREFIX)
  t.equal(open.length, ids.length)
  setDown(false)
  const second = await startOperator()
  await eventually('all events have arrived', async () => new Set(accepted).size === ids.length)
  await eventually('no delivery is open', async () => (await stage.keysUnder(OPEN_PREFIX)).length === 0)
  t.equal(accepted.length, ids.length, 'each once')
  t.equal(await second.end('SIGTERM'), 0)
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

t.test('while the store is unavailable nothing is archived or lost, and above twice the limit requests are rejected', async (t) => {
  await stage.switchAccount('away')
  const operator = await stage.startOperator()
  // It would wait for its bucket before it leads.
  await eventually('it leads', () => operator.isLeader())
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const back = world.store.restart(ended)
  const ids = await stage.addRecords(MAX_LIVE, () => ({ hasFile: false }))
  await eventually('the gateway has seen them', async () => (await get(`/screenshots/${ids.at(-1)}`)).status === 200)
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

  end()
  await back
  await eventually('the finished ones are archived', async () => {
    const live = await liveIds()
    return ids.every((id) => !live.includes(id))
  })
  await eventually('requests are accepted again', async () => (await create()).status === 202)
  const listed = await listIds('&status=completed')
  t.strictSame(listed, ids.sort())
})
