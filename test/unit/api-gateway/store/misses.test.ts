import t from 'tap'
import { Misses } from '../../../../api-gateway/src/store/misses.ts'

t.test('Misses asks once in five seconds for one name, and shares the answer', async (t) => {
  const misses = new Misses()
  let asked = 0
  const ask = (at: number) => misses.ask('a', at, async () => ++asked)
  t.strictSame(await Promise.all([ask(0), ask(1), ask(4_999)]), [1, 1, 1])
  t.equal(await ask(5_000), 2)
})

t.test('Misses asks at most twenty times a second in all', async (t) => {
  const misses = new Misses()
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => misses.ask(`key ${i}`, 100, async () => 'asked')))
  t.equal(answers.filter((answer) => answer === 'asked').length, 20)
  t.equal(await misses.ask('later', 1_100, async () => 'asked'), 'asked')
})

t.test('Misses does not remember what was not answered', async (t) => {
  const misses = new Misses()
  await t.rejects(
    misses.ask('a', 0, async () => {
      throw new Error('away')
    }),
    { message: 'away' },
  )
  t.equal(await misses.ask('a', 1, async () => 'there'), 'there')
})

t.test('Misses remembers that there is nothing, and not what it has found: that may be revoked', async (t) => {
  for (const [found, asks] of [
    [undefined, 1],
    [[], 1],
    [['a key'], 2],
    ['an account', 2],
  ] as const) {
    const misses = new Misses()
    let asked = 0
    const ask = () =>
      misses.ask('a', 0, async () => {
        asked++
        return found
      })
    await ask()
    await ask()
    t.equal(asked, asks, JSON.stringify(found))
  }
})
