import t from 'tap'
import { Backoff } from '../../../../crds/client/backoff.ts'

t.test('backoff waits briefly at first, then longer up to its cap', async (t) => {
  const backoff = new Backoff({ base: 800, cap: 30_000, random: () => 1 })
  t.strictSame(
    Array.from({ length: 7 }, () => backoff.next()),
    [400, 1_200, 3_600, 10_800, 30_000, 30_000, 30_000],
  )
})

t.test('backoff never waits less than its base after the first wait', async (t) => {
  const backoff = new Backoff({ base: 800, cap: 30_000, random: () => 0 })
  t.strictSame(
    Array.from({ length: 4 }, () => backoff.next()),
    [100, 800, 800, 800],
  )
})

t.test('backoff starts over after a success, also from its cap', async (t) => {
  const backoff = new Backoff({ base: 800, cap: 2_000, random: () => 1 })
  backoff.next()
  backoff.next()
  t.equal(backoff.next(), 2_000)
  backoff.reset()
  t.equal(backoff.next(), 400)
})
