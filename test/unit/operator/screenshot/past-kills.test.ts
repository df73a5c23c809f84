import t from 'tap'
import type { ScreenshotStatus } from '../../../../crds/src/kinds/screenshot.ts'
import { KILL_SECONDS, Kills, MAX_KILLS } from '../../../../operator/src/screenshot/kills.ts'
import { findPastKills } from '../../../../operator/src/screenshot/past-kills.ts'
import { aScreenshot, at } from '../../../support/builders.ts'

const now = at(1_000).getTime()
const shot = (name: string, status: ScreenshotStatus) =>
  aScreenshot({ name, metadata: { uid: name }, spec: { accountName: 'red' }, status: status as never })
const crashed = { error: { code: 'PAGE_CRASHED' as const, message: 'm' } }

t.test('findPastKills counts what Screenshots have cost, those that have ended at their end, oldest first', async (t) => {
  const found = findPastKills(
    [
      shot('waits', { phase: 'Pending', lostRunners: 1 }),
      shot('fine', { phase: 'Completed', completionTime: at(900).toISOString() }),
      shot('crashed', { phase: 'Failed', lostRunners: 1, completionTime: at(990).toISOString(), result: crashed }),
      shot('late', { phase: 'Completed', lostRunners: 1, completionTime: at(980).toISOString() }),
    ],
    now,
  )
  t.strictSame(found, [
    { account: 'red', id: 'late/0', at: at(980).getTime() },
    { account: 'red', id: 'crashed/0', at: at(990).getTime() },
    { account: 'red', id: 'crashed/1', at: at(990).getTime() },
    { account: 'red', id: 'waits/0', at: now },
  ])
})

t.test('findPastKills leaves out what is forgiven by now, and believes no clock that is ahead', async (t) => {
  const longAgo = new Date(now - MAX_KILLS * KILL_SECONDS * 1_000).toISOString()
  t.strictSame(findPastKills([shot('old', { phase: 'Completed', lostRunners: 1, completionTime: longAgo })], now), [])
  const [ahead] = findPastKills([shot('ahead', { phase: 'Completed', lostRunners: 1, completionTime: at(2_000).toISOString() })], now)
  t.equal(ahead?.at, now)
})

t.test('Kills holds an account back under a new leader as under the one before', async (t) => {
  const shots = Array.from({ length: MAX_KILLS / 2 }, (_, n) =>
    shot(`crashed-${n}`, { phase: 'Failed', lostRunners: 1, completionTime: at(995 + n).toISOString(), result: crashed }),
  )
  const kills = new Kills()
  for (const { account, id, at } of findPastKills(shots, now)) kills.note(account, id, at)
  t.equal(kills.ceilingOf('red', now), 0)
})
