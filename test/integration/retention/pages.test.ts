import t from 'tap'
import { createdAtOf } from '../../../crds/src/identifiers/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { isFullLength } from '../../support/length.ts'
import { ago, startStage } from './stage.ts'

const stage = await startStage(t)
const { liveIds, listIds, get } = stage
const COUNT = isFullLength ? 2_500 : 1_200
const MOVING = 0.5 * COUNT
const HOUR = 3_600_000

t.test('pages are exact over the records of three days, while many of them are archived', async (t) => {
  // Spread over 60 hours, with ends in a different order than starts.
  const record = (n: number) => ({ createdAt: ago((n % 61) * HOUR), hasFile: false, spec: { batchId: `batch_${n % 5}` } })
  const archived = await stage.addArchived(COUNT - MOVING, record)
  const moving = await stage.addRecords(MOVING, record)
  const ids = [...archived, ...moving].sort()
  await eventually('the gateway has seen all', async () => (await listIds('&status=completed', 500)).length === COUNT)
  await stage.startOperator()
  let rounds = 0
  for (let isDone = false; !isDone; rounds++) {
    isDone = (await liveIds()).length === 0
    const limit = [100, 37, 500, 250][rounds % 4]!
    t.strictSame(await listIds('', limit), ids, `round ${rounds}, ${limit} a page`)
  }
  t.ok(rounds > 1, `${rounds} walks while records moved`)
  t.equal((await listIds('&batch_id=batch_3', 100)).length, COUNT / 5)
  t.strictSame(
    (await get('/screenshots?limit=5&offset=600')).body.data.map(({ id }: { id: string }) => id),
    ids.slice(600, 605),
  )
  const middle = createdAtOf(ids[0.4 * COUNT]!).toISOString()
  const older = await listIds(`&created_before=${middle}`)
  const younger = await listIds(`&created_after=${middle}`)
  t.ok(older.length > 0.4 * COUNT && younger.length > 0.35 * COUNT)
  t.notOk(older.some((id) => younger.includes(id)))
})
