import t from 'tap'
import { doubled, repeat, retry } from '../../../../crds/src/runtime/retry.ts'

/** Records waits instead of waiting. */
function aClock() {
  const waits: number[] = []
  return { waits, wait: async (milliseconds: number) => void waits.push(milliseconds) }
}

t.test('retry repeats after errors with the delays of the caller, and resolves with the first success', async (t) => {
  const { waits, wait } = aClock()
  const seen: unknown[] = []
  const work = async (attempt: number) => {
    if (attempt < 4) throw new Error(`failure ${attempt}`)
    return `done after ${attempt}`
  }
  const delayOf = (error: unknown, attempt: number) => {
    seen.push((error as Error).message)
    return attempt === 2 ? 0 : attempt * 10
  }
  t.equal(await retry(work, { delayOf, wait }), 'done after 4')
  t.strictSame(seen, ['failure 1', 'failure 2', 'failure 3'])
  t.strictSame(waits, [10, 30], 'a delay of 0 does not wait')
})

t.test('retry throws the last error when the caller wants no further attempt', async (t) => {
  const { waits, wait } = aClock()
  const last = { not: 'an Error' }
  const work = (attempt: number) => Promise.reject(attempt === 3 ? last : new Error('earlier'))
  const thrown = await retry(work, { delayOf: (_, attempt) => (attempt < 3 ? 5 : undefined), wait }).catch((error: unknown) => error)
  t.equal(thrown, last)
  t.strictSame(waits, [5, 5])
})

t.test('retry throws what the delay or the wait throws', async (t) => {
  const work = () => Promise.reject(new Error('failure'))
  const refuse = () => {
    throw new Error('too busy')
  }
  await t.rejects(retry(work, { delayOf: refuse, wait: aClock().wait }), { message: 'too busy' })
  await t.rejects(retry(work, { delayOf: () => 1, wait: () => Promise.reject(new Error('aborted')) }), { message: 'aborted' })
})

t.test('repeat calls again for results that the caller does not accept', async (t) => {
  const { waits, wait } = aClock()
  const result = await repeat(async (attempt) => attempt, { delayOf: (found) => (found < 3 ? found * 100 : undefined), wait })
  t.equal(result, 3)
  t.strictSame(waits, [100, 200])
  await t.rejects(
    repeat(() => Promise.reject(new Error('thrown')), { delayOf: () => 1, wait }),
    { message: 'thrown' },
  )
})

t.test('doubled grows to its maximum', async (t) => {
  t.strictSame(
    [1, 2, 3, 4, 5].map((attempt) => doubled(100, 1_000, attempt)),
    [100, 200, 400, 800, 1_000],
  )
})
