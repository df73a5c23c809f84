import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { KeyedLimiter } from '../../../../operator/src/controller-runtime/keyed-limiter.ts'

/** Jobs that end when the test says so, with a log of the started ones. */
function setUp() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const job = (name: string) => () => {
    started.push(name)
    return new Promise<void>((resolve) => ends.set(name, resolve))
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await setImmediate()
  }
  return { started, job, end }
}

t.test('KeyedLimiter runs no more than the limits allow', async (t) => {
  const { started, job, end } = setUp()
  const limiter = new KeyedLimiter({ total: 3, perKey: 2 })
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void limiter.run(name[0]!, job(name))
  t.strictSame(started, ['a1', 'a2', 'b1'])
  t.equal(limiter.active, 3)
  await end('a1')
  t.strictSame(started, ['a1', 'a2', 'b1', 'b2'], 'round-robin: the next key')
  await end('a2')
  t.strictSame(started, ['a1', 'a2', 'b1', 'b2', 'a3'])
})

t.test('KeyedLimiter alternates between keys, however many jobs one of them has', async (t) => {
  const { started, job, end } = setUp()
  const limiter = new KeyedLimiter({ total: 1, perKey: 1 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) void limiter.run(name[0]!, job(name))
  for (const name of ['a1', 'b1', 'c1', 'a2', 'a3']) await end(name)
  t.strictSame(started, ['a1', 'b1', 'c1', 'a2', 'a3', 'a4'])
})

t.test('KeyedLimiter does not let a key whose jobs hang delay others', async (t) => {
  const { started, job, end } = setUp()
  const limiter = new KeyedLimiter({ total: 4, perKey: 2 })
  for (let n = 0; n < 50; n++) void limiter.run('hanging', job(`h${n}`))
  for (let n = 0; n < 5; n++) {
    void limiter.run('well', job(`w${n}`))
    await end(`w${n}`)
  }
  t.strictSame(started, ['h0', 'h1', 'w0', 'w1', 'w2', 'w3', 'w4'])
})

t.test('KeyedLimiter passes on results and errors of a job, and frees its slot', async (t) => {
  const limiter = new KeyedLimiter({ total: 1, perKey: 1 })
  t.equal(await limiter.run('a', async () => 7), 7)
  await t.rejects(
    limiter.run('a', () => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.equal(await limiter.run('a', async () => 8), 8)
  await setImmediate()
  t.equal(limiter.active, 0)
})

t.test('KeyedLimiter rejects waiting jobs when it is closed, and waits for running ones', async (t) => {
  const { started, job, end } = setUp()
  const limiter = new KeyedLimiter({ total: 1, perKey: 1 })
  const running = limiter.run('a', job('a1'))
  const waiting = t.rejects(limiter.run('a', job('a2')), { name: 'LimiterClosed' })
  let isClosed = false
  const closed = limiter.close().then(() => {
    isClosed = true
  })
  await waiting
  await t.rejects(limiter.run('b', job('b1')), { name: 'LimiterClosed' })
  t.notOk(isClosed)
  await end('a1')
  await Promise.all([running, closed])
  t.strictSame(started, ['a1'])
})

t.test('KeyedLimiter starts nothing while mayStart is false, and continues on wake', async (t) => {
  const { started, job, end } = setUp()
  let mayStart = true
  const limiter = new KeyedLimiter({ total: 9, perKey: 9 }, () => mayStart)
  void limiter.run('a', job('a1'))
  mayStart = false
  void limiter.run('a', job('a2'))
  void limiter.run('b', job('b1'))
  await end('a1')
  t.strictSame(started, ['a1'])
  mayStart = true
  limiter.wake()
  t.strictSame(started, ['a1', 'a2', 'b1'])
  await Promise.all(['a2', 'b1'].map(end))
  await limiter.close()
})
