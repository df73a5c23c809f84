import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Lanes } from '../../../../operator/src/delivery/lanes.ts'

/** Jobs that end when told, in a log of what started. */
function aWorkshop() {
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

t.test('Lanes runs no more than its lane and the whole allow', async (t) => {
  const { started, job, end } = aWorkshop()
  const lanes = new Lanes({ total: 3, perLane: 2 })
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void lanes.run(name[0]!, job(name))
  t.strictSame(started, ['a1', 'a2', 'b1'])
  t.equal(lanes.active, 3)
  await end('a1')
  t.strictSame(started, ['a1', 'a2', 'b1', 'b2'], 'the lane whose turn it is')
  await end('a2')
  t.strictSame(started, ['a1', 'a2', 'b1', 'b2', 'a3'])
})

t.test('Lanes takes waiting lanes in turn, however long one of them is', async (t) => {
  const { started, job, end } = aWorkshop()
  const lanes = new Lanes({ total: 1, perLane: 1 })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) void lanes.run(name[0]!, job(name))
  for (const name of ['a1', 'b1', 'c1', 'a2', 'a3']) await end(name)
  t.strictSame(started, ['a1', 'b1', 'c1', 'a2', 'a3', 'a4'])
})

t.test('Lanes lets a lane whose jobs hang delay nobody else', async (t) => {
  const { started, job, end } = aWorkshop()
  const lanes = new Lanes({ total: 4, perLane: 2 })
  for (let n = 0; n < 50; n++) void lanes.run('hanging', job(`h${n}`))
  for (let n = 0; n < 5; n++) {
    void lanes.run('well', job(`w${n}`))
    await end(`w${n}`)
  }
  t.strictSame(started, ['h0', 'h1', 'w0', 'w1', 'w2', 'w3', 'w4'])
})

t.test('Lanes hands on what a job returns and throws, and frees its place', async (t) => {
  const lanes = new Lanes({ total: 1, perLane: 1 })
  t.equal(await lanes.run('a', async () => 7), 7)
  await t.rejects(
    lanes.run('a', () => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.equal(await lanes.run('a', async () => 8), 8)
  await setImmediate()
  t.equal(lanes.active, 0)
})

t.test('Lanes that close refuse what waits and wait for what runs', async (t) => {
  const { started, job, end } = aWorkshop()
  const lanes = new Lanes({ total: 1, perLane: 1 })
  const running = lanes.run('a', job('a1'))
  const waiting = t.rejects(lanes.run('a', job('a2')), { name: 'LanesClosed' })
  let isClosed = false
  const closed = lanes.close().then(() => {
    isClosed = true
  })
  await waiting
  await t.rejects(lanes.run('b', job('b1')), { name: 'LanesClosed' })
  t.notOk(isClosed)
  await end('a1')
  await Promise.all([running, closed])
  t.strictSame(started, ['a1'])
})

t.test('Lanes starts nothing while it may not, and goes on when it is woken', async (t) => {
  const { started, job, end } = aWorkshop()
  let mayStart = true
  const lanes = new Lanes({ total: 9, perLane: 9 }, () => mayStart)
  void lanes.run('a', job('a1'))
  mayStart = false
  void lanes.run('a', job('a2'))
  void lanes.run('b', job('b1'))
  await end('a1')
  t.strictSame(started, ['a1'])
  mayStart = true
  lanes.wake()
  t.strictSame(started, ['a1', 'a2', 'b1'])
  await Promise.all(['a2', 'b1'].map(end))
  await lanes.close()
})
