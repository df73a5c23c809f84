import t from 'tap'
import { NegativeCache } from '../../../../../api-gateway/src/resources/keys/negative-cache.ts'

t.test('NegativeCache asks once in five seconds for one name, and shares the result', async (t) => {
  const cache = new NegativeCache()
  let asked = 0
  const ask = (at: number) => cache.ask('a', at, async () => ++asked)
  t.strictSame(await Promise.all([ask(0), ask(1), ask(4_999)]), [1, 1, 1])
  t.equal(await ask(5_000), 2)
})

t.test('NegativeCache asks at most twenty times a second in all', async (t) => {
  const cache = new NegativeCache()
  const results = await Promise.all(Array.from({ length: 30 }, (_, i) => cache.ask(`key ${i}`, 100, async () => 'asked')))
  t.equal(results.filter((result) => result === 'asked').length, 20)
  t.equal(await cache.ask('later', 1_100, async () => 'asked'), 'asked')
})

t.test('NegativeCache does not remember failed requests', async (t) => {
  const cache = new NegativeCache()
  await t.rejects(
    cache.ask('a', 0, async () => {
      throw new Error('away')
    }),
    { message: 'away' },
  )
  t.equal(await cache.ask('a', 1, async () => 'there'), 'there')
})

t.test('NegativeCache remembers only that nothing was found, because found objects may be revoked', async (t) => {
  for (const [found, asks] of [
    [undefined, 1],
    [[], 1],
    [['a key'], 2],
    ['an account', 2],
  ] as const) {
    const cache = new NegativeCache()
    let asked = 0
    const ask = () =>
      cache.ask('a', 0, async () => {
        asked++
        return found
      })
    await ask()
    await ask()
    t.equal(asked, asks, JSON.stringify(found))
  }
})
