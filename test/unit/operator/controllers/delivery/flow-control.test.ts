import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { nextAttemptTime } from '../../../../../operator/src/controllers/delivery/decide.ts'
import {
  type Circuit,
  CircuitBreakers,
  CLOSED,
  heldUntil,
  isForgettable,
  PostLimiter,
  type PostLimits,
  withEnd,
  withStart,
} from '../../../../../operator/src/controllers/delivery/flow-control.ts'
import { at, NOON } from '../../../../support/fakes/builders.ts'

const MINUTE = 60_000
/** Posts that end at `now`, one letter each: s for success, f for failure. */
const after = (circuit: Circuit, ends: string, now = 0): Circuit => [...ends].reduce((sum, end) => withEnd(sum, end === 's', now), circuit)
const isOpen = ({ openUntil }: Circuit): boolean => openUntil !== undefined

t.test('withEnd opens the circuit at seven failures of ten posts, and not before the tenth', async (t) => {
  const cases: [ends: string, opens: boolean][] = [
    ['fffffffff', false],
    ['ffffffffff', true],
    ['sssfffffff', true],
    ['ssssffffff', false],
    ['sssssssssssssss', false],
  ]
  for (const [ends, opens] of cases) t.equal(isOpen(after(CLOSED, ends)), opens, ends)
})

t.test('withEnd counts only the last five minutes', async (t) => {
  const early = after(CLOSED, 'fffffffff')
  t.ok(isOpen(withEnd(early, false, 4 * MINUTE)))
  t.notOk(isOpen(withEnd(early, false, 5 * MINUTE)))
})

t.test('heldUntil delays an attempt until the end of the pause, at most thirty seconds after it was due', async (t) => {
  const open = after(CLOSED, 'ffffffffff')
  t.equal(heldUntil(open, 0, 1_000), 30_000)
  t.equal(heldUntil(open, -20_000, 1_000), 10_000)
  t.equal(heldUntil(open, -40_000, 1_000), undefined, 'it was delayed long enough')
  t.equal(heldUntil(CLOSED, 0, 1_000), undefined)
})

t.test('heldUntil lets one post probe after the pause, and delays the others until it has ended', async (t) => {
  const open = after(CLOSED, 'ffffffffff')
  t.equal(heldUntil(open, 25_000, 30_000), undefined)
  const probing = withStart(open, 30_000)
  t.equal(heldUntil(probing, 25_000, 30_001), 35_001, 'they ask again')
  t.equal(heldUntil(probing, 500, 30_001), 30_500)
  t.equal(heldUntil(withEnd(probing, undefined, 30_002), 25_000, 30_003), undefined, 'the probe was not sent: another post may start')
})

t.test('withEnd closes the circuit after a successful probe, and starts a new pause after a failed one', async (t) => {
  const probing = withStart(after(CLOSED, 'ffffffffff'), 30_000)
  t.strictSame(withEnd(probing, true, 31_000), CLOSED)
  t.equal(heldUntil(withEnd(probing, false, 31_000), 31_000, 31_000), 61_000)
})

t.test('withEnd does not treat a late result of an earlier post as a probe', async (t) => {
  const open = after(CLOSED, 'ffffffffff')
  t.ok(isOpen(withEnd(open, true, 5_000)))
  t.equal(withEnd(open, false, 5_000).openUntil, open.openUntil)
})

t.test('isForgettable is true for an endpoint without posts in five minutes, and for an old pause', async (t) => {
  const failing = after(CLOSED, 'f')
  t.notOk(isForgettable(failing, MINUTE))
  t.ok(isForgettable(failing, 5 * MINUTE))
  const open = after(CLOSED, 'ffffffffff')
  t.notOk(isForgettable(open, 5 * MINUTE))
  t.ok(isForgettable(open, 6 * MINUTE))
})

/** CircuitBreakers whose clock the test sets, in seconds after noon. */
function setUp() {
  const clock = { second: 0 }
  const reported: string[] = []
  const circuitBreakers = new CircuitBreakers({
    now: () => at(clock.second),
    onChange: (endpoint, isOpen) => reported.push(`${endpoint} ${isOpen ? 'open' : 'closed'}`),
  })
  const fail = (endpoint = 'hook', times = 10) => {
    for (let n = 0; n < times; n++) circuitBreakers.start(endpoint)(false)
  }
  return { clock, reported, circuitBreakers, fail }
}

t.test('CircuitBreakers delays the attempts of a failing endpoint, and of no other', async (t) => {
  const { circuitBreakers, fail, reported } = setUp()
  fail()
  t.strictSame(circuitBreakers.heldUntil('hook', at(0)), at(30))
  t.equal(circuitBreakers.heldUntil('other', at(0)), undefined)
  t.strictSame([circuitBreakers.isOpen('hook'), circuitBreakers.isOpen('other')], [true, false])
  t.strictSame(reported, ['hook open'])
})

t.test('CircuitBreakers removes idle endpoints, and reports the end of their pause', async (t) => {
  const { circuitBreakers, fail, reported, clock } = setUp()
  fail()
  clock.second = 331
  circuitBreakers.forgetIdle()
  t.strictSame(reported, ['hook open', 'hook closed'])
  fail('hook', 9)
  t.notOk(circuitBreakers.isOpen('hook'), 'it counts from zero')
})

t.test('CircuitBreakers reports every open circuit when it is closed', async (t) => {
  const { circuitBreakers, fail, reported } = setUp()
  fail()
  circuitBreakers.close()
  t.strictSame(reported, ['hook open', 'hook closed'])
})

const schedule = { delaysMilliseconds: [5_000, 300_000], timeoutMilliseconds: 5_000 }
const seconds = (time: Date) => (time.getTime() - NOON.getTime()) / 1000

t.test('nextAttemptTime lengthens each delay by up to a fifth, and never shortens it', async (t) => {
  const cases: [attempt: number, jitter: number, second: number][] = [
    [1, 0, 5],
    [1, 0.5, 5.5],
    [1, 0.999999, 6],
    [2, 0, 300],
    [2, 0.5, 330],
    [2, 0.999999, 360],
    [3, 0, 300],
  ]
  for (const [attempt, jitter, second] of cases)
    t.equal(Math.round(10 * seconds(nextAttemptTime(schedule, { attempt, jitter, at: NOON }))) / 10, second)
  t.equal(seconds(nextAttemptTime({ ...schedule, delaysMilliseconds: [] }, { attempt: 1, jitter: 0.5, at: NOON })), 0, 'without delays')
})

t.test('nextAttemptTime respects Retry-After up to twice the delay, and it never shortens a delay', async (t) => {
  const cases: [retryAfter: number, second: number][] = [
    [0, 5],
    [1_000, 5],
    [7_000, 7],
    [10_000, 10],
    [86_400_000, 10],
  ]
  for (const [retryAfterMilliseconds, second] of cases) {
    t.equal(seconds(nextAttemptTime(schedule, { attempt: 1, jitter: 0, at: NOON, retryAfterMilliseconds })), second)
  }
})

/** A limiter, and the endpoints of the posts that it has started. Posts end when the test says so. */
function startLimiter(limits: Partial<PostLimits>, mayStart?: () => boolean) {
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
  const { started, post, end } = startLimiter({ total: 8, perAccount: 3 })
  await post('a1', 'a2', 'a3', 'a4', 'a5', 'b1')
  t.strictSame(started, ['a1', 'a2', 'a3', 'b1'])
  await end(1)
  t.strictSame(started, ['a1', 'a2', 'a3', 'b1', 'a4'], 'it continues when one of its posts ends')
})

t.test('accounts take turns, however many endpoints one of them has', async (t) => {
  const { started, post, end } = startLimiter({ total: 1 })
  await post('a1', 'a2', 'a3', 'b1')
  for (let n = 0; n < 4; n++) await end(1)
  t.strictSame(started, ['a1', 'a2', 'b1', 'a3'])
})

t.test('an endpoint that hangs takes at most its own posts from its account', async (t) => {
  const { started, post } = startLimiter({ perAccount: 3, perEndpoint: 2 })
  await post('a1', 'a1', 'a1', 'a1', 'a2')
  t.strictSame(started, ['a1', 'a1', 'a2'])
})

t.test('no post starts while none may, not even when another one ends, and all start on wake', async (t) => {
  let mayStart = true
  const { limiter, started, post, end } = startLimiter({}, () => mayStart)
  await post('a1')
  mayStart = false
  await post('a2', 'b1')
  await end(1)
  t.strictSame(started, ['a1'])
  mayStart = true
  limiter.wake()
  t.strictSame(started, ['a1', 'a2', 'b1'])
})

t.test('close rejects posts that wait for their endpoint or their account, and waits for those that run', async (t) => {
  const { limiter, started, post, end } = startLimiter({ perAccount: 1, perEndpoint: 2 })
  const [running, ...waiting] = await post('a1', 'a1', 'a1', 'a2')
  let isClosed = false
  const closed = limiter.close().then(() => {
    isClosed = true
  })
  for (const refused of [...waiting, limiter.run({ account: 'b', endpoint: 'b1' }, async () => {})])
    await t.rejects(refused, { name: 'LimiterClosed' })
  t.notOk(isClosed)
  await end(1)
  await Promise.all([running, closed])
  t.strictSame(started, ['a1'])
})
