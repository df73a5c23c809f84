import { setImmediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t from 'tap'
import { KeyedLimiter } from '../../../../operator/src/controller-runtime/keyed-limiter.ts'
import { createRuntimeMetrics, type RuntimeMetrics } from '../../../../operator/src/controller-runtime/metrics.ts'
import { WorkQueue } from '../../../../operator/src/controller-runtime/work-queue.ts'
import { ManualClock } from './manual-clock.ts'

const aQueue = (options: { metrics?: RuntimeMetrics } = {}) => {
  const clock = new ManualClock()
  return { clock, queue: new WorkQueue({ name: 'shots', clock, ...options }) }
}

/** Takes all queued keys and marks them as done. */
async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = []
  while (queue.depth > 0) {
    const key = (await queue.take()) as string
    keys.push(key)
    queue.done(key)
  }
  return keys
}

t.test('work queue returns a key once however often it was added, in order of arrival', async (t) => {
  const { queue } = aQueue()
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
  t.equal(queue.depth, 3)
  t.strictSame(await takeAll(queue), ['a', 'b', 'c'])
})

t.test('work queue never returns a key that is being processed, and returns it once afterwards', async (t) => {
  const { queue } = aQueue()
  queue.add('a')
  t.equal(await queue.take(), 'a')
  queue.add('a')
  queue.add('a')
  queue.add('b')
  t.strictSame(await takeAll(queue), ['b'])
  queue.done('a')
  t.strictSame(await takeAll(queue), ['a'])
})

t.test('work queue returns live keys before resync keys, and moves a key up that becomes live', async (t) => {
  const { queue } = aQueue()
  for (const key of ['old-1', 'old-2', 'old-3']) queue.add(key, 'resync')
  queue.add('new')
  queue.add('old-3')
  queue.add('new', 'resync')
  t.strictSame(await takeAll(queue), ['new', 'old-3', 'old-1', 'old-2'])
})

t.test('work queue returns a key as live that became live during its processing', async (t) => {
  const { queue } = aQueue()
  queue.add('a', 'resync')
  await queue.take()
  queue.add('a', 'resync')
  queue.add('a', 'live')
  queue.add('b', 'resync')
  queue.done('a')
  t.strictSame(await takeAll(queue), ['a', 'b'])
})

t.test('work queue passes a key to a waiting taker', async (t) => {
  const { queue } = aQueue()
  const first = queue.take()
  const second = queue.take()
  queue.add('a')
  queue.add('b')
  t.strictSame(await Promise.all([first, second]), ['a', 'b'])
})

t.test('work queue keeps the earliest of several delays for a key', async (t) => {
  const { queue, clock } = aQueue()
  queue.addAfter('a', 5_000)
  queue.addAfter('a', 1_000)
  queue.addAfter('a', 3_000)
  clock.advance(999)
  t.equal(queue.depth, 0)
  clock.advance(1)
  t.strictSame(await takeAll(queue), ['a'])
  clock.advance(10_000)
  t.equal(queue.depth, 0, 'the later delays are ignored')
})

t.test('work queue adds keys without delay at once, and supports delays beyond the limit of a timer', async (t) => {
  const { queue, clock } = aQueue()
  queue.addAfter('a', 0)
  queue.addAfter('b', -5)
  t.strictSame(await takeAll(queue), ['a', 'b'])
  const month = 31 * 24 * 3_600_000
  queue.addAfter('a', month)
  clock.advance(month - 1)
  t.equal(queue.depth, 0)
  clock.advance(1)
  t.equal(queue.depth, 1)
})

t.test('work queue doubles the delay of a failing key up to the maximum, and restarts after forget', async (t) => {
  const { queue, clock } = aQueue()
  const delays: number[] = []
  const delayOf = () => {
    queue.addRateLimited('a')
    let waited = 0
    while (queue.depth === 0) {
      clock.advance(1)
      waited++
    }
    return waited
  }
  for (let n = 0; n < 15; n++) {
    delays.push(delayOf())
    await takeAll(queue)
  }
  t.strictSame(delays, [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 60_000])
  t.equal(queue.retries('a'), 15)
  queue.forget('a')
  t.equal(queue.retries('a'), 0)
  t.equal(delayOf(), 5)
})

t.test('work queue keeps a failing key of a resync behind live ones', async (t) => {
  const { queue, clock } = aQueue()
  queue.add('old', 'resync')
  await queue.take()
  queue.addRateLimited('old')
  queue.done('old')
  clock.advance(5)
  queue.add('new')
  t.strictSame(await takeAll(queue), ['new', 'old'])
})

t.test('work queue takes 700 bytes for each delayed key, because each has a timer', async (t) => {
  const { queue, clock } = aQueue()
  for (const delay of [30, 10, 20, 10]) queue.addAfter(`key ${delay}`, delay)
  for (const delay of [25, 5, 40]) queue.addAfter('key 30', delay)
  t.equal(clock.pending, 1)
  const taken: string[] = []
  for (let passed = 5; passed <= 40; passed += 5) {
    clock.advance(5)
    taken.push(...(await takeAll(queue)).map((key) => `${key} after ${passed}`))
  }
  t.strictSame(taken, ['key 30 after 5', 'key 10 after 10', 'key 20 after 20'])
  t.equal(clock.pending, 0)
})

t.test('work queue that is shut down returns nothing, accepts nothing and leaves no timer', async (t) => {
  const { queue, clock } = aQueue()
  const waiting = queue.take()
  queue.addAfter('later', 1_000)
  queue.shutDown()
  queue.add('a')
  queue.addAfter('b', 10)
  t.equal(await waiting, undefined)
  t.equal(await queue.take(), undefined)
  t.equal(queue.depth, 0)
  t.equal(clock.pending, 0)
})

t.test('work queue reports how long its keys have been processed', async (t) => {
  const { queue, clock } = aQueue()
  t.equal(queue.longestRunningSeconds(), 0)
  queue.add('a')
  queue.add('b')
  await queue.take()
  clock.advance(2_000)
  await queue.take()
  clock.advance(1_000)
  t.equal(queue.longestRunningSeconds(), 3)
  t.equal(queue.unfinishedSeconds(), 4)
  queue.done('a')
  t.equal(queue.longestRunningSeconds(), 1)
  queue.done('unknown')
})

t.test('work queue feeds the metrics of controller-runtime', async (t) => {
  const registry = new Registry()
  const { queue, clock } = aQueue({ metrics: createRuntimeMetrics(registry) })
  const labels = 'name="shots",controller="shots"'
  const readMetric = async (name: string, more = '') =>
    Number(new RegExp(`^${name}\\{${labels}${more}\\} (.*)$`, 'm').exec(await registry.metrics())?.[1])
  const depths = () => Promise.all(['live', 'resync'].map((priority) => readMetric('workqueue_depth', `,priority="${priority}"`)))
  queue.add('a')
  queue.add('a')
  t.equal(await readMetric('workqueue_adds_total'), 1)
  t.strictSame(await depths(), [1, 0])
  clock.advance(500)
  await queue.take()
  t.equal(await readMetric('workqueue_queue_duration_seconds_sum'), 0.5)
  t.strictSame(await depths(), [0, 0])
  clock.advance(250)
  queue.addRateLimited('a')
  queue.done('a')
  t.equal(await readMetric('workqueue_retries_total'), 1)
  t.equal(await readMetric('workqueue_work_duration_seconds_sum'), 0.25)
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
