import fc from 'fast-check'
import t from 'tap'
import { type Bucket, countRequest, liveBuckets, rateRemaining, secondsUntilRoom } from '../../../../crds/src/usage/rate-window.ts'

const START = Date.parse('2026-11-21T10:00:00Z')
const at = (milliseconds: number) => new Date(START + milliseconds)
const NO_WINDOW: readonly Bucket[] = []

/** Waits between requests, mostly short and sometimes longer than a window. */
const waits = fc.array(fc.oneof(fc.integer({ min: 0, max: 1_500 }), fc.integer({ min: 0, max: 70_000 })), { minLength: 1, maxLength: 120 })

/** Sends a request after each wait. Returns the times of the accepted requests. */
function accept(limit: number, pauses: readonly number[]): number[] {
  let now = 0
  let window = NO_WINDOW
  const accepted: number[] = []
  for (const pause of pauses) {
    now += pause
    if (rateRemaining(window, limit, at(now)) === 0) continue
    window = countRequest(window, at(now))
    accepted.push(now)
  }
  return accepted
}

t.test('rate window never accepts more than the limit in any 60 seconds', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), waits, (limit, pauses) => {
      const accepted = accept(limit, pauses)
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
      let now = 0
      let window = NO_WINDOW
      for (const pause of pauses) {
        now += pause
        if (rateRemaining(window, limit, at(now)) > 0) {
          window = countRequest(window, at(now))
          continue
        }
        const seconds = secondsUntilRoom(window, limit, at(now))
        if (seconds < 1 || seconds > 61) return false
        if (rateRemaining(window, limit, at(now + seconds * 1_000)) === 0) return false
        if (rateRemaining(window, limit, at(now + (seconds - 1) * 1_000)) > 0) return false
      }
      return true
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

t.test('rate window returns the wait for a limit that was lowered', async (t) => {
  let window = NO_WINDOW
  for (const second of [0, 10, 20]) window = countRequest(window, at(second * 1_000))
  t.equal(secondsUntilRoom(window, 1, at(20_000)), 61, 'when the last of three has left')
  t.equal(secondsUntilRoom(window, 2, at(20_000)), 51, 'when the second has')
})

t.test('rate window reports its whole length under a limit of zero', async (t) => {
  t.equal(secondsUntilRoom(countRequest(NO_WINDOW, at(0)), 0, at(30_000)), 61)
})
