import t from 'tap'
import { KILL_SECONDS, Kills, MAX_KILLS } from '../../../../operator/src/screenshot/kills.ts'

const forgiven = (count: number): number => count * KILL_SECONDS * 1_000

/** An account whose captures have cost so many runners at once. */
function after(count: number): Kills {
  const kills = new Kills()
  for (let n = 0; n < count; n++) kills.note('red', `pod-${n}`, 0)
  return kills
}

t.test('Kills does not bound an account whose captures cost nobody anything', async (t) => {
  t.equal(new Kills().ceilingOf('red', 0), undefined)
  t.equal(after(3).ceilingOf('blue', 0), undefined)
})

t.test('Kills lets an account have no more captures at a time than it has runners left to cost', async (t) => {
  t.equal(after(3).ceilingOf('red', 0), MAX_KILLS - 3)
  t.equal(after(MAX_KILLS).ceilingOf('red', 0), 0)
  t.equal(after(MAX_KILLS + 5).ceilingOf('red', 0), 0)
})

t.test('Kills tells when an account is held back, and counts a runner once', async (t) => {
  const kills = after(MAX_KILLS - 1)
  t.equal(kills.note('red', 'pod-0', 0), 'known')
  t.equal(kills.note('red', 'last', 0), 'heldBack')
  t.equal(kills.note('red', 'one more', 0), 'heldBack')
})

t.test('Kills forgives one at a time', async (t) => {
  const kills = after(MAX_KILLS)
  t.equal(kills.ceilingOf('red', forgiven(1) - 1), 0)
  t.equal(kills.ceilingOf('red', forgiven(1)), 1)
  t.equal(kills.ceilingOf('red', forgiven(MAX_KILLS)), undefined)
})

t.test('Kills bounds what an account costs for ever, whatever it does', async (t) => {
  const kills = new Kills()
  let cost = 0
  for (let second = 0; second < 3_600; second++)
    for (let n = kills.ceilingOf('red', second * 1_000) ?? MAX_KILLS; n > 0; n--) {
      kills.note('red', `pod-${cost++}`, second * 1_000)
    }
  t.ok(cost <= MAX_KILLS + 3_600 / KILL_SECONDS, `${cost} runners in an hour`)
})
