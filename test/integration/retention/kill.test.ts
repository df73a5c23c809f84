import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { isFullLength } from '../../support/length.ts'
import { startStage } from './stage.ts'

const stage = await startStage(t)
const { get, liveIds, listIds } = stage
const COUNT = isFullLength ? 400 : 250
const KILLS = isFullLength ? 3 : 2

t.test('no record is lost or duplicated when the operator is killed between any two steps', async (t) => {
  const ids = await stage.addRecords(COUNT, () => ({ hasFile: false }))
  await eventually('the gateway has seen all', async () => (await listIds('&status=completed')).length === COUNT)
  for (let kill = 1; kill <= KILLS; kill++) {
    const before = (await liveIds()).length
    const operator = await stage.startOperator()
    // During a batch: some are written and deleted, some only written, some neither.
    await eventually('it archives', async () => (await liveIds()).length < before).catch((cause: unknown) => {
      throw new Error(operator.output(), { cause })
    })
    await operator.end('SIGKILL')
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
