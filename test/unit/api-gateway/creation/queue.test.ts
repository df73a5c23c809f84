import t from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import type { Account, Plan } from '../../../../crds/src/kinds/account.ts'
import { aQueue, aScreenshot, FakeScreenshots, NOW } from '../fakes.ts'

const anAccount = (name: string, plan: Plan = 'scale'): Account => ({
  metadata: { name, namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: NOW.toISOString() },
  spec: { plan },
})
const fill = (screenshots: FakeScreenshots, accountName: string, count: number) =>
  Array.from({ length: count }, (_, n) => screenshots.put(aScreenshot({ id: newId('scr', new Date(NOW.getTime() + n)), accountName })))

const idsOf = (count: number) => Array.from({ length: count }, () => newId('scr', NOW))

t.test('Queue counts what is about to be created, until the slots are released, and what is in the cache once', async (t) => {
  const screenshots = new FakeScreenshots()
  const queue = aQueue(screenshots, { maxQueuedPerAccount: 3 })
  const acme = anAccount('acme')
  const ids = idsOf(3)
  const leave = queue.enter(acme, ids)
  t.throws(() => queue.check(acme, 1), { code: 'QUEUE_FULL', headers: { 'retry-after': '10' } })
  t.doesNotThrow(() => queue.check(anAccount('other'), 3), 'another account is not concerned')
  screenshots.put(aScreenshot({ id: ids[0] ?? '' }))
  t.throws(() => queue.check(acme, 1), { code: 'QUEUE_FULL' })
  screenshots.put(aScreenshot({ id: ids[0] ?? '', phase: 'Running' }))
  t.doesNotThrow(() => queue.check(acme, 1), 'it waits no longer')
  leave()
  leave()
  t.doesNotThrow(() => queue.check(acme, 3))
  t.throws(() => queue.check(acme, 4), { code: 'QUEUE_FULL' })
})

t.test('Queue takes a batch whole or not at all', async (t) => {
  const screenshots = new FakeScreenshots()
  const queue = aQueue(screenshots, { maxQueuedPerAccount: 150 })
  fill(screenshots, 'acme', 100)
  t.throws(() => queue.enter(anAccount('acme'), idsOf(100)), { code: 'QUEUE_FULL' })
  t.doesNotThrow(() => queue.enter(anAccount('acme'), idsOf(50)))
})

t.test('Queue has room for singles of others when one account is at its bound and the queue is nearly full', async (t) => {
  const screenshots = new FakeScreenshots()
  const queue = aQueue(screenshots, { maxQueued: 1_100, maxQueuedPerAccount: 1_000 }, anAccount)
  fill(screenshots, 'flood', 990)
  t.throws(() => queue.check(anAccount('flood'), 1), { code: 'QUEUE_FULL' }, 'the last tenth is not its own')
  t.doesNotThrow(() => {
    for (let n = 0; n < 100; n++) queue.enter(anAccount(`single-${n}`), idsOf(1))
  })
})

t.test(
  'Queue counts ten thousand of one account, made with kubectl, up to its limit, and none of accounts that do not exist',
  async (t) => {
    const screenshots = new FakeScreenshots()
    const queue = aQueue(screenshots, {}, (name) => (name === 'nobody' ? undefined : anAccount(name)))
    fill(screenshots, 'flood', 10_000)
    fill(screenshots, 'nobody', 9_500)
    t.doesNotThrow(() => queue.check(anAccount('acme'), 100))
    t.throws(() => queue.check(anAccount('flood'), 1), { code: 'QUEUE_FULL', message: /10000 screenshots of the account are queued/ })
  },
)

t.test('Queue is full while the archive does not keep up', async (t) => {
  const screenshots = new FakeScreenshots()
  screenshots.isQueueFull = true
  t.throws(() => aQueue(screenshots).check(anAccount('acme'), 1), { code: 'QUEUE_FULL', message: /archived/ })
})

t.test('Queue computes positions and times by the weights of the accounts', async (t) => {
  const screenshots = new FakeScreenshots()
  const queue = aQueue(screenshots, {}, (name) => (name === 'flood' ? anAccount('flood', 'scale') : undefined))
  fill(screenshots, 'flood', 100)
  const mine = fill(screenshots, 'acme', 2)
  t.strictSame(
    mine.map((shot) => queue.positionOf(shot, anAccount('acme'))),
    [2, 4],
  )
  t.equal(queue.positionOf(mine[0] ?? aScreenshot({}), anAccount('acme', 'free')), 9, 'eight captures of the larger plan come first')
  t.equal(queue.positionOf(aScreenshot({ phase: 'Running' }), anAccount('acme')), undefined)
  screenshots.queue.meanCaptureMilliseconds = 1_000
  t.equal(queue.estimate(anAccount('acme'), 1), '3-12s')
  t.equal(queue.estimate(anAccount('flood'), 1), '51-206s')
})
