import t from 'tap'
import type { CaptureAnswer, Told } from '../../../../operator/src/runner/runner-client.ts'
import { Follower } from '../../../../operator/src/screenshot/follow.ts'

/** A follower of runners that answer when the test says so, and a clock that the test moves. */
function aWorld() {
  const asked: {
    uid: string
    attempt: number
    until: string | undefined
    answer: (answer: CaptureAnswer, afterMilliseconds?: number, isTaken?: boolean) => Promise<void>
  }[] = []
  const taken: string[] = []
  const news: string[] = []
  const cancelled: string[] = []
  const world = { isLeader: true, now: 0 }
  const follower = new Follower({
    client: {
      ask: (_address, uid, attempt, wait) => {
        const { promise, resolve } = Promise.withResolvers<Told>()
        const answer = async (answer: CaptureAnswer, afterMilliseconds = 30_000, isTaken = false) => {
          world.now += afterMilliseconds
          resolve({ answer, isTaken })
          await new Promise((done) => setImmediate(done))
        }
        asked.push({ uid, attempt, until: wait?.until, answer })
        return promise
      },
      cancel: async (_address, uid) => void cancelled.push(uid),
    },
    onNews: (key) => void news.push(key),
    onTaken: (key, podUid) => void taken.push(`${key} ${podUid}`),
    isLeader: () => world.isLeader,
    now: () => new Date(world.now),
  })
  const follow = (attempt = 1) =>
    follower.follow({ key: 'a', uid: 'uid', attempt, podUid: `pod-${attempt}`, address: { uid: 'pod', ip: '' } })
  return { asked, news, taken, cancelled, follower, world, follow }
}

t.test('Follower asks once for an attempt, and tells when its runner has given it up', async (t) => {
  const { asked, news, follow } = aWorld()
  follow()
  follow()
  t.equal(asked.length, 1)
  await asked[0]?.answer('absent')
  t.strictSame(news, ['a'])
})

t.test('Follower tells of a runner that does not answer any more', async (t) => {
  const { asked, news, follow } = aWorld()
  follow()
  await asked[0]?.answer('silent')
  t.strictSame(news, ['a'])
})

t.test('Follower tells once of a picture that is taken, and goes on asking for the end', async (t) => {
  const { asked, news, taken, follow } = aWorld()
  follow()
  t.equal(asked[0]?.until, 'taken')
  await asked[0]?.answer('running', 100, true)
  t.strictSame(taken, ['a pod-1'])
  t.equal(asked[1]?.until, 'settled')
  await asked[1]?.answer('running', 30_000, true)
  t.equal(asked[2]?.until, 'settled')
  await asked[2]?.answer('absent')
  t.strictSame([taken, news], [['a pod-1'], ['a']])
})

t.test('Follower tells of no picture once another leader leads', async (t) => {
  const { asked, taken, world, follow } = aWorld()
  follow()
  world.isLeader = false
  await asked[0]?.answer('running', 100, true)
  t.strictSame(taken, [])
  t.equal(asked.length, 1)
})

t.test('Follower leaves a report to the watch', async (t) => {
  const { asked, news, follow } = aWorld()
  follow()
  await asked[0]?.answer('reporting')
  t.strictSame(news, [])
  t.equal(asked.length, 1)
})

t.test('Follower asks again while the capture goes on', async (t) => {
  const { asked, news, follow } = aWorld()
  follow()
  await asked[0]?.answer('running')
  await asked[1]?.answer('absent')
  t.strictSame(news, ['a'])
})

t.test('Follower leaves a runner alone that does not wait with its answer', async (t) => {
  const { asked, follow } = aWorld()
  follow()
  await asked[0]?.answer('running', 5)
  t.equal(asked.length, 1)
})

t.test('Follower says nothing of an attempt that another has followed', async (t) => {
  const { asked, news, follow } = aWorld()
  follow(1)
  follow(2)
  await asked[0]?.answer('absent')
  t.strictSame(news, [])
  await asked[1]?.answer('absent')
  t.strictSame(news, ['a'])
})

t.test('Follower says nothing once another leads', async (t) => {
  const { asked, news, world, follow } = aWorld()
  follow()
  world.isLeader = false
  await asked[0]?.answer('absent')
  t.strictSame(news, [])
})

t.test('Follower tells a runner that is lost to the cluster to drop its capture, and heeds it no more', async (t) => {
  const { asked, news, cancelled, follower, follow } = aWorld()
  follow()
  follower.giveUp('a')
  follower.giveUp('a')
  t.strictSame(cancelled, ['uid'])
  await asked[0]?.answer('absent')
  t.strictSame(news, [])
})
