import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { startStage } from './stage.ts'

const MAX_LIVE = 10
const stage = await startStage(t, { TINTYPE_RETENTION_MAX_LIVE: String(MAX_LIVE) })
const { world, get, liveIds, listIds } = stage
const create = () => call(`${stage.gateway.url}/v1/screenshots`, { method: 'POST', key: stage.key, body: { url: 'https://example.com/' } })

t.test('above the limit, records are archived early, earliest end first', async (t) => {
  const inOrder: string[] = []
  for (let n = 0; n < MAX_LIVE + 5; n++) inOrder.push(await stage.addRecord({ hasFile: false }))
  const operator = await stage.startOperator({ TINTYPE_RETENTION_LIVE_FOR_SECONDS: '3600', TINTYPE_RETENTION_MAX_LIVE: String(MAX_LIVE) })
  await eventually('some are archived', async () => (await liveIds()).length < inOrder.length)
  await operator.end('SIGTERM')
  // A tenth below the limit, so that not every new record archives an old one.
  t.strictSame(await liveIds(), inOrder.slice(-MAX_LIVE + 1).sort())
  t.strictSame(await listIds(), inOrder.toSorted())
  for (const id of inOrder) await world.screenshots.delete(id.replace('_', '-')).catch(() => {})
  for (const id of inOrder) await stage.remove(id)
})

t.test('while the store is unavailable nothing is archived or lost, and above twice the limit requests are rejected', async (t) => {
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
