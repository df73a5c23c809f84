import t from 'tap'
import { mapConcurrently } from '../../../../crds/src/runtime/map-concurrently.ts'

t.test('mapConcurrently maps every item in order, with limited concurrency', async (t) => {
  let active = 0
  let most = 0
  const results = await mapConcurrently([5, 4, 3, 2, 1], 2, async (n, index) => {
    most = Math.max(most, ++active)
    for (let turn = 0; turn < n; turn++) await new Promise((resolve) => setImmediate(resolve))
    active--
    return `${index}:${n}`
  })
  t.strictSame(results, ['0:5', '1:4', '2:3', '3:2', '4:1'])
  t.equal(most, 2)
})

t.test('mapConcurrently starts no further call after a failure', async (t) => {
  const seen: number[] = []
  const map = async (n: number) => {
    seen.push(n)
    if (n === 2) throw new Error('away')
  }
  await t.rejects(mapConcurrently([1, 2, 3, 4], 1, map), { message: 'away' })
  t.strictSame(seen, [1, 2])
})
