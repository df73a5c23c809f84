import t from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import type { Plan } from '../../../../crds/src/kinds/account.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { anAccount as anAccountOf } from '../../../support/fakes/builders.ts'
import { aQueue, aScreenshot, NOW, TestScreenshots } from '../fakes.ts'

const anAccount = (name: string, plan: Plan = 'scale') => anAccountOf({ name, spec: { plan } })
const fill = (screenshots: TestScreenshots, accountName: string, count: number, options: CaptureOptions = {}) =>
  Array.from({ length: count }, (_, n) => {
    const shot = aScreenshot({ id: newId('scr', new Date(NOW.getTime() + n)), accountName })
    return screenshots.put({ ...shot, spec: { ...shot.spec, options: { ...shot.spec.options, ...options } } })
  })

/** A queue and its Screenshots. */
function start(...bounds: Parameters<typeof aQueue> extends [unknown, ...infer Rest] ? Rest : never) {
  const screenshots = new TestScreenshots()
  return { screenshots, queue: aQueue(screenshots, ...bounds) }
}

const idsOf = (count: number) => Array.from({ length: count }, () => newId('scr', NOW))

t.test('Queue counts what is about to be created, until the slots are released, and what is in the cache once', async (t) => {
  const { screenshots, queue } = start({ maxQueued: 5, maxQueuedPerAccount: 3 })
  const acme = anAccount('acme')
  const ids = idsOf(3)
  const leave = queue.enter(acme, ids)
  t.throws(() => queue.check(acme, 1), { code: 'QUEUE_FULL', headers: { 'retry-after': '10' } })
  t.doesNotThrow(() => queue.check(anAccount('other'), 2), 'another account is not concerned')
  t.throws(() => queue.check(anAccount('other'), 3), { code: 'QUEUE_FULL', message: /^the queue is full/ }, 'of all accounts')
  screenshots.put(aScreenshot({ id: ids[0] ?? '' }))
  t.throws(() => queue.check(acme, 1), { code: 'QUEUE_FULL' })
  screenshots.put(aScreenshot({ id: ids[0] ?? '', phase: 'Running' }))
  t.doesNotThrow(() => queue.check(acme, 1), 'it waits no longer')
  leave()
  leave()
  t.doesNotThrow(() => queue.check(acme, 3))
  t.throws(() => queue.check(acme, 4), { code: 'QUEUE_FULL' })
})

t.test(
  'Queue counts ten thousand of one account, made with kubectl, up to its limit, and none of accounts that do not exist',
  async (t) => {
    const screenshots = new TestScreenshots()
    const queue = aQueue(screenshots, {}, (name) => (name === 'nobody' ? undefined : anAccount(name)))
    fill(screenshots, 'flood', 10_000)
    fill(screenshots, 'nobody', 9_500)
    t.doesNotThrow(() => queue.check(anAccount('acme'), 100))
    t.throws(() => queue.check(anAccount('flood'), 1), { code: 'QUEUE_FULL', message: /10000 screenshots of the account are queued/ })
  },
)

t.test('Queue is full while the archive does not keep up', async (t) => {
  const screenshots = new TestScreenshots()
  screenshots.isQueueFull = true
  t.throws(() => aQueue(screenshots).check(anAccount('acme'), 1), { code: 'QUEUE_FULL', message: /archived/ })
})

t.test('Queue computes positions and times by the weights of the accounts', async (t) => {
  const { screenshots, queue } = start({}, (name) => (name === 'flood' ? anAccount('flood', 'scale') : undefined))
  fill(screenshots, 'flood', 100)
  const mine = fill(screenshots, 'acme', 2)
  t.strictSame(
    mine.map((shot) => queue.positionOf(shot, anAccount('acme'))),
    [2, 4],
  )
  t.equal(queue.positionOf(mine[0] ?? aScreenshot({}), anAccount('acme', 'free')), 9, 'eight captures of the larger plan come first')
  t.equal(queue.positionOf(aScreenshot({ phase: 'Running' }), anAccount('acme')), undefined)
  screenshots.measure(1_000)
  t.equal(queue.estimate(anAccount('acme'), 1), '3-12s')
  t.equal(queue.estimate(anAccount('flood'), 1), '51-206s')
})

t.test('Queue refuses screenshots of an account whose plan is not defined, and still has positions for its queued ones', async (t) => {
  const { screenshots, queue } = start()
  const account = anAccount('acme', 'team-gold')
  const message = /^plan team-gold of the account is not defined/
  t.throws(() => queue.check(account, 1), { code: 'SERVICE_UNAVAILABLE', message })
  const [queued] = fill(screenshots, 'acme', 1)
  t.equal(queue.positionOf(queued!, account), 1)
})

t.test('Queue gives videos and screenshots separate positions and estimates, under one limit', async (t) => {
  const { screenshots, queue } = start({ maxQueuedPerAccount: 12 })
  const account = anAccount('acme')
  const videos = fill(screenshots, 'acme', 10, { format: 'mp4' })
  const [screenshot] = fill(screenshots, 'acme', 1)
  t.equal(queue.positionOf(screenshot!, account), 1)
  t.strictSame(
    videos.map((video) => queue.positionOf(video, account)).sort((a = 0, b = 0) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  )
  screenshots.measure(1_000)
  t.equal(queue.estimate(account, 1, 'video'), '10-60s', 'no video has been measured')
  screenshots.measure(1_000, { format: 'mp4' })
  t.equal(queue.estimate(account, 1), '1-4s')
  t.equal(queue.estimate(account, 1, 'video'), '5-22s')
  const leave = queue.enter(account, idsOf(1), 'video')
  t.equal(queue.estimate(account, 1, 'video'), '6-24s')
  t.throws(() => queue.check(account, 1), { code: 'QUEUE_FULL', message: /12 screenshots of the account are queued/ })
  leave()
})
