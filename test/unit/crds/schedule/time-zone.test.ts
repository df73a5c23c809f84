import t from 'tap'
import { describeTimeZone, isTimeZone, offsetAt } from '../../../../crds/src/schedule/time-zone.ts'

t.test('names of the IANA database are zones, and nothing else', async (t) => {
  for (const name of ['UTC', 'Europe/Zurich', 'America/Argentina/Buenos_Aires', 'Asia/Calcutta', 'Etc/GMT+5']) t.ok(isTimeZone(name), name)
  for (const name of ['US/Pacific', 'GB-Eire', 'Hongkong', 'EST5EDT', 'GMT0', 'W-SU']) t.ok(isTimeZone(name), `${name}, an alias`)
  for (const name of [
    'US/PACIFIC',
    'GB-EIRE',
    'HongKong',
    'Us/Pacific-New',
    'SystemV/EST5',
    'US/Pacific-New',
    'PST',
    'IST',
    'ACT',
    'Factory',
  ])
    t.notOk(isTimeZone(name), `${name}, which the API server does not know`)
  for (const name of ['', 'Local', 'EUROPE/ZURICH', 'europe/zurich', 'Mars/Olympus', '+01:00', 'Europe/Zurich '])
    t.notOk(isTimeZone(name), name)
})

t.test('the offset is that of the instant', async (t) => {
  t.equal(offsetAt('Europe/Zurich', Date.UTC(2026, 2, 29, 0, 59, 59, 999)), 3_600_000)
  t.equal(offsetAt('Europe/Zurich', Date.UTC(2026, 2, 29, 1)), 7_200_000)
  t.equal(offsetAt('Asia/Kathmandu', 0), 19_800_000)
  t.equal(offsetAt('Pacific/Chatham', Date.UTC(2026, 0, 1)), 49_500_000)
  t.equal(offsetAt('UTC', 12_345), 0)
})

t.test('describeTimeZone suggests the spelling that was meant, and nothing for what is no zone', async (t) => {
  const hints = ['utc', 'Utc', 'europe/lisbon', '+05:30', 'Local', 'Mars/Olympus', '', 'US/PACIFIC', 'hongkong'].map(
    (name) => describeTimeZone(name).split('; ')[1],
  )
  t.strictSame(hints, [
    'did you mean UTC?',
    'did you mean UTC?',
    'did you mean Europe/Lisbon?',
    undefined,
    undefined,
    undefined,
    undefined,
    'did you mean US/Pacific?',
    'did you mean Hongkong?',
  ])
})
