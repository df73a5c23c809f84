import fc from 'fast-check'
import t from 'tap'
import { DEFAULT_PLANS, findPlan, limitsOfPlan, mayExceed, PlansText, toLimits } from '../../../../crds/src/usage/plans.ts'
import { type Bucket, countRequest, liveBuckets, rateRemaining, secondsUntilRoom } from '../../../../crds/src/usage/usage.ts'

t.test('plans have the documented defaults', async (t) => {
  t.strictSame(PlansText.parse(undefined), DEFAULT_PLANS)
  t.match(PlansText.parse(''), {
    free: { monthlyQuota: 100, ratePerMinute: 2 },
    basic: { monthlyQuota: 2_000, ratePerMinute: 40, overagePricePer1000: 2 },
    growth: { monthlyQuota: 10_000, ratePerMinute: 80, overagePricePer1000: 1.5 },
    scale: { monthlyQuota: 50_000, ratePerMinute: 150, overagePricePer1000: 0.75 },
  })
})

t.test('plans treat null, and a key that Helm has removed, as unlimited', async (t) => {
  const plans = PlansText.parse(JSON.stringify({ free: { monthlyQuota: 5, ratePerMinute: null }, basic: { monthlyQuota: 5 } }))
  for (const plan of ['free', 'basic']) t.strictSame(toLimits({ plan }, limitsOfPlan(plans, plan)), { limit: 5 })
})

const mistakes = [
  { text: '{', says: /JSON/ },
  { text: '[]', says: /the whole text/ },
  { text: JSON.stringify({ ...DEFAULT_PLANS, free: { monthlyQuota: -1 } }), says: /free\.monthlyQuota/ },
  { text: '{}', says: /at least one plan/ },
  { text: JSON.stringify({ 'Team Gold': { monthlyQuota: 1 } }), says: /Team Gold/ },
  { text: JSON.stringify({ [`a${'b'.repeat(63)}`]: { monthlyQuota: 1 } }), says: /abbb/ },
  { text: JSON.stringify({ ...DEFAULT_PLANS, scale: { monthlyQuota: 1, rate: 1 } }), says: /scale.*rate/s },
]
for (const { text, says } of mistakes)
  t.test(`plans name the mistake in ${text.slice(0, 40)}`, async (t) => t.match(PlansText.safeParse(text).error?.issues[0]?.message, says))

t.test('plans allow overage only if the account enables it and the plan has a price', async (t) => {
  const { free, basic } = DEFAULT_PLANS
  const enabled = { plan: 'basic', overage: { enabled: true, max: 50 } } as const
  t.strictSame(toLimits(enabled, basic), { limit: 2_050, ratePerMinute: 40 })
  t.strictSame(toLimits({ plan: 'basic', overage: { enabled: true } }, basic), { limit: 10_000_000_000, ratePerMinute: 40 }, 'no bound')
  t.strictSame(toLimits({ plan: 'basic', overage: { enabled: false, max: 50 } }, basic).limit, 2_000)
  t.strictSame(toLimits({ ...enabled, plan: 'free' }, free).limit, 100, 'an upgrade is required')
  t.notOk(mayExceed({ overage: { enabled: true } }, free))
})

t.test('plans can have any DNS label as a name', async (t) => {
  const named = { 'team-gold': { monthlyQuota: 7, ratePerMinute: 3 }, ['b'.repeat(63)]: { monthlyQuota: 1 } }
  const plans = PlansText.parse(JSON.stringify(named))
  t.match(findPlan(plans, 'team-gold'), { monthlyQuota: 7, weight: 1 })
  t.strictSame(toLimits({ plan: 'team-gold' }, limitsOfPlan(plans, 'team-gold')), { limit: 7, ratePerMinute: 3 })
})

t.test('limitsOfPlan allows no screenshots without a plan of this name, and deletes no files early', async (t) => {
  const { free, scale } = DEFAULT_PLANS
  const plans = { free, scale: { ...scale, retentionDays: 90 } }
  for (const plan of ['team-gold', 'constructor']) {
    t.equal(findPlan(plans, plan), undefined)
    const limits = limitsOfPlan(plans, plan)
    t.match(limits, { retentionDays: 90, weight: 1, maxRunning: 1 })
    t.strictSame(toLimits({ plan, overage: { enabled: true } }, limits), { limit: 0 })
  }
})

const START = Date.parse('2026-11-21T10:00:00Z')
const at = (milliseconds: number) => new Date(START + milliseconds)
const NO_WINDOW: readonly Bucket[] = []

/** Waits between requests, mostly short and sometimes longer than a window. */
const waits = fc.array(fc.oneof(fc.integer({ min: 0, max: 1_500 }), fc.integer({ min: 0, max: 70_000 })), { minLength: 1, maxLength: 120 })

/** Sends a request after each wait. Returns the times of the accepted requests, and the windows that refused one. */
function send(limit: number, pauses: readonly number[]) {
  let now = 0
  let window = NO_WINDOW
  const accepted: number[] = []
  const refused: { window: readonly Bucket[]; now: number }[] = []
  for (const pause of pauses) {
    now += pause
    if (rateRemaining(window, limit, at(now)) === 0) {
      refused.push({ window, now })
      continue
    }
    window = countRequest(window, at(now))
    accepted.push(now)
  }
  return { accepted, refused }
}

t.test('rate window never accepts more than the limit in any 60 seconds', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), waits, (limit, pauses) => {
      const { accepted } = send(limit, pauses)
      return accepted.every((first, index) => {
        const next = accepted[index + limit]
        return next === undefined || next - first > 60_000
      })
    }),
    { numRuns: 500 },
  )
})

t.test('rate window accepts a request after the announced seconds, and not a whole second earlier', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), waits, (limit, pauses) => {
      const { refused } = send(limit, pauses)
      return refused.every(({ window, now }) => {
        const seconds = secondsUntilRoom(window, limit, at(now))
        const remainingAfter = (wait: number) => rateRemaining(window, limit, at(now + wait * 1_000))
        return seconds >= 1 && seconds <= 61 && remainingAfter(seconds) > 0 && remainingAfter(seconds - 1) === 0
      })
    }),
    { numRuns: 500 },
  )
})

t.test('rate window keeps at most 61 buckets, which fit in the object', async (t) => {
  let window = NO_WINDOW
  for (let second = 0; second < 200; second++) window = countRequest(window, at(second * 1_000))
  t.equal(window.length, 61)
})

t.test('rate window counts requests of a slow clock in the newest second', async (t) => {
  const window = countRequest(countRequest(NO_WINDOW, at(10_000)), at(8_000))
  t.strictSame(window, [{ second: START / 1_000 + 10, count: 2 }])
})

t.test('rate window recovers from buckets of a clock that was ahead', async (t) => {
  const window = countRequest(NO_WINDOW, at(3_600_000))
  t.equal(rateRemaining(window, 1, at(0)), 0, 'it counts')
  t.strictSame(liveBuckets(window, at(0)), [{ second: START / 1_000, count: 1 }], 'as if it were now')
  t.equal(secondsUntilRoom(window, 1, at(0)), 61)
})

t.test('rate window returns the wait for a limit that was lowered, and its whole length under a limit of zero', async (t) => {
  let window = NO_WINDOW
  for (const second of [0, 10, 20]) window = countRequest(window, at(second * 1_000))
  t.equal(secondsUntilRoom(window, 1, at(20_000)), 61, 'when the last of three has left')
  t.equal(secondsUntilRoom(window, 2, at(20_000)), 51, 'when the second has')
  t.equal(secondsUntilRoom(countRequest(NO_WINDOW, at(0)), 0, at(30_000)), 61)
})
