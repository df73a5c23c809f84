import fc from 'fast-check'
import t from 'tap'
import {
  findQueueFullReason,
  type QueueFacts,
  queuePosition,
  retrySeconds,
  toEstimatedTime,
} from '../../../../api-gateway/src/creation/queue-rules.ts'

const bounds = { maxQueued: 100, maxQueuedPerAccount: 50 }

const rooms = [
  { name: 'takes what fits exactly', count: 10, total: 40, own: 40, isFull: false },
  { name: 'refuses an account that is at its bound', count: 1, total: 50, own: 50, isFull: true },
  { name: 'takes a batch whole or not at all', count: 11, total: 40, own: 40, isFull: true },
  { name: 'keeps the last tenth from an account that has much waiting', count: 1, total: 90, own: 10, isFull: true },
  { name: 'keeps the last tenth from a large batch', count: 11, total: 89, own: 0, isFull: true },
  { name: 'gives the last tenth to an account with fewer than ten waiting', count: 1, total: 99, own: 9, isFull: false },
  { name: 'refuses everybody when the queue is full', count: 1, total: 100, own: 0, isFull: true },
]
for (const { name, count, total, own, isFull } of rooms) {
  t.test(`findQueueFullReason ${name}`, async (t) => t.equal(findQueueFullReason(count, { total, own }, bounds) !== undefined, isFull))
}

t.test(
  'findQueueFullReason never lets a queue pass its bounds, and has room for a single one of every account while large ones cannot enter',
  async (t) => {
    const request = fc.record({ account: fc.integer({ min: 0, max: 3 }), count: fc.integer({ min: 1, max: 30 }) })
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        const own = [0, 0, 0, 0]
        for (const { account, count } of requests) {
          const total = own.reduce((sum, waiting) => sum + waiting)
          if (findQueueFullReason(count, { total, own: own[account] ?? 0 }, bounds) === undefined)
            own[account] = (own[account] ?? 0) + count
        }
        const total = own.reduce((sum, waiting) => sum + waiting)
        if (total > bounds.maxQueued || own.some((waiting) => waiting > bounds.maxQueuedPerAccount)) return false
        return total >= bounds.maxQueued || findQueueFullReason(1, { total, own: 0 }, bounds) === undefined
      }),
    )
    t.pass()
  },
)

const facts: QueueFacts = { own: 0, weight: 1, others: [], running: 2, meanCaptureMilliseconds: 2_000 }

t.test('queuePosition counts the other accounts by weight, at most as often as they have queued', async (t) => {
  const others = [
    { waiting: 2_000, weight: 1 },
    { waiting: 1, weight: 8 },
  ]
  t.equal(queuePosition(0, { others: [], weight: 1 }), 1)
  t.equal(queuePosition(0, { others, weight: 1 }), 3, 'a batch of thousands counts once')
  t.equal(queuePosition(9, { others, weight: 1 }), 21)
  t.equal(queuePosition(9, { others, weight: 2 }), 16)
})

t.test('toEstimatedTime is the range of the spec until a capture was measured', async (t) => {
  t.equal(toEstimatedTime(1, { ...facts, meanCaptureMilliseconds: undefined }), '10-60s')
})

t.test('toEstimatedTime follows the queue, the captures under way and the time that they take', async (t) => {
  t.equal(toEstimatedTime(1, facts), '1-4s')
  t.equal(toEstimatedTime(1, { ...facts, own: 98 }), '50-200s')
  t.equal(toEstimatedTime(1, { ...facts, own: 98, running: 10 }), '10-44s')
  t.equal(toEstimatedTime(1, { ...facts, own: 98, running: 10, maxRunning: 2 }), '50-200s', 'its own ceiling holds it back')
  t.equal(toEstimatedTime(100, facts), '1-202s', 'of a batch: from the first to the last')
})

t.test('toEstimatedTime is a range text whose end lies beyond its beginning, whatever is known', async (t) => {
  const other = fc.record({ waiting: fc.nat(10_000), weight: fc.integer({ min: 1, max: 100 }) })
  const any = fc.record({
    own: fc.nat(10_000),
    weight: fc.integer({ min: 1, max: 100 }),
    others: fc.array(other, { maxLength: 20 }),
    running: fc.nat(3_000),
    meanCaptureMilliseconds: fc.nat(900_000),
  })
  fc.assert(
    fc.property(any, fc.integer({ min: 1, max: 100 }), (known, count) => {
      const [, from = '', to = ''] = /^(\d{1,6})-(\d{1,6})s$/.exec(toEstimatedTime(count, known)) ?? []
      return Number(from) >= 1 && Number(to) > Number(from)
    }),
  )
  t.pass()
})

t.test('retrySeconds is the time in which room may come, within a minute', async (t) => {
  t.equal(retrySeconds(1, { ...facts, meanCaptureMilliseconds: undefined }), 10)
  t.equal(retrySeconds(1, facts), 1)
  t.equal(retrySeconds(10, facts), 10)
  t.equal(retrySeconds(100, facts), 60)
})
