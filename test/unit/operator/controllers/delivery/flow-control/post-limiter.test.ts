import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { PostLimiter, type PostLimits } from '../../../../../../operator/src/controllers/delivery/flow-control/post-limiter.ts'

/** A limiter, and the endpoints of the posts that it has started. Posts end when the test says so. */
function setUp(limits: Partial<PostLimits>, mayStart?: () => boolean) {
  const limiter = new PostLimiter({ total: 100, perAccount: 100, perEndpoint: 100, ...limits }, mayStart)
  const started: string[] = []
  const ends: (() => void)[] = []
  /** Starts posts to endpoints, each named after its account and a number. */
  const post = async (...endpoints: string[]) => {
    const posts = endpoints.map((endpoint) =>
      limiter.run({ account: endpoint[0]!, endpoint }, () => {
        started.push(endpoint)
        return new Promise<void>((resolve) => ends.push(resolve))
      }),
    )
    await setImmediate()
    return posts
  }
  const end = async (count: number) => {
    for (const resolve of ends.splice(0, count)) resolve()
    await setImmediate()
  }
  return { limiter, started, post, end }
}

t.test('one account with many endpoints that hang does not take the posts of others', async (t) => {
  const { started, post, end } = setUp({ total: 8, perAccount: 3 })
  await post('a1', 'a2', 'a3', 'a4', 'a5', 'b1')
  t.strictSame(started, ['a1', 'a2', 'a3', 'b1'])
  await end(1)
  t.strictSame(started, ['a1', 'a2', 'a3', 'b1', 'a4'], 'it continues when one of its posts ends')
})

t.test('accounts take turns, however many endpoints one of them has', async (t) => {
  const { started, post, end } = setUp({ total: 1 })
  await post('a1', 'a2', 'a3', 'b1')
  for (let n = 0; n < 4; n++) await end(1)
  t.strictSame(started, ['a1', 'a2', 'b1', 'a3'])
})

t.test('an endpoint that hangs takes at most its own posts from its account', async (t) => {
  const { started, post } = setUp({ perAccount: 3, perEndpoint: 2 })
  await post('a1', 'a1', 'a1', 'a1', 'a2')
  t.strictSame(started, ['a1', 'a1', 'a2'])
})

t.test('posts start on wake when they may', async (t) => {
  let mayStart = false
  const { limiter, started, post } = setUp({}, () => mayStart)
  await post('a1')
  t.strictSame(started, [])
  mayStart = true
  limiter.wake()
  t.strictSame(started, ['a1'])
})

t.test('close rejects posts that wait for their endpoint or their account, and waits for those that run', async (t) => {
  const { limiter, started, post, end } = setUp({ perAccount: 1, perEndpoint: 2 })
  const [running, ...waiting] = await post('a1', 'a1', 'a1', 'a2')
  let isClosed = false
  const closed = limiter.close().then(() => {
    isClosed = true
  })
  for (const refused of waiting) await t.rejects(refused, { name: 'LimiterClosed' })
  t.notOk(isClosed)
  await end(1)
  await Promise.all([running, closed])
  t.strictSame(started, ['a1'])
})
