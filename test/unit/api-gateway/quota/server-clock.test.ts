import t from 'tap'
import { ServerClock } from '../../../../api-gateway/src/quota/gateway-lease.ts'

const START = Date.parse('2026-11-21T10:00:00.700Z')
/** The header of an answer that is given when the API server's clock shows START and so many milliseconds. */
const answerAt = (milliseconds: number, durationSeconds = 0.01) => ({ date: new Date(START + milliseconds).toUTCString(), durationSeconds })

/** What a machine that is so far behind makes of the answers. */
function see(behindMilliseconds: number, ...responses: { date?: string; durationSeconds: number }[]): number {
  const clock = new ServerClock(() => START - behindMilliseconds)
  for (const response of responses) clock.note(response)
  return clock.now().getTime() - START
}

t.test('server clock leaves alone a machine that agrees to the second', async (t) => {
  for (const behind of [-900, -400, 0, 400, 900]) t.equal(see(behind, answerAt(0)), -behind, `${behind} ms`)
})

t.test('server clock corrects one that is wrong, to less than a second', async (t) => {
  for (const behind of [-3_600_000, -5_000, 5_000, 3_600_000]) {
    const off = see(behind, answerAt(0))
    t.ok(Math.abs(off) < 1_000, `${behind} ms: ${off} ms`)
  }
})

t.test('server clock trusts neither a slow answer nor one without a date', async (t) => {
  t.equal(see(5_000, answerAt(0, 2), { durationSeconds: 0 }, { date: 'x', durationSeconds: 0 }), -5_000)
})

t.test('server clock follows a machine whose clock was set right', async (t) => {
  let behind = 60_000
  const clock = new ServerClock(() => START - behind)
  clock.note(answerAt(0))
  behind = 0
  clock.note(answerAt(0))
  t.equal(clock.now().getTime(), START)
})
