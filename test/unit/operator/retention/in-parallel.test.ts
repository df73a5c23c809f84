import t from 'tap'
import { inParallel } from '../../../../operator/src/retention/in-parallel.ts'

t.test('inParallel acts on every item once, so many at a time', async (t) => {
  const seen: number[] = []
  let active = 0
  let most = 0
  await inParallel([1, 2, 3, 4, 5], 2, async (n) => {
    most = Math.max(most, ++active)
    await new Promise((resolve) => setImmediate(resolve))
    active--
    seen.push(n)
  })
  t.strictSame(seen.sort(), [1, 2, 3, 4, 5])
  t.equal(most, 2)
})

t.test('inParallel begins nothing more after a failure', async (t) => {
  const seen: number[] = []
  const act = async (n: number) => {
    seen.push(n)
    if (n === 2) throw new Error('away')
  }
  await t.rejects(inParallel([1, 2, 3, 4], 1, act), { message: 'away' })
  t.strictSame(seen, [1, 2])
})
