import t from 'tap'
import { CronError, parseCron } from '../../../../crds/src/schedule/cron.ts'
import { describeTimeZone, isTimeZone, offsetAt } from '../../../../crds/src/schedule/times.ts'
import { assertAccepts, assertEvery } from '../../../support/accepts.ts'

const fieldsOf = (text: string) => {
  const cron = parseCron(text)
  if (cron.kind !== 'fields') throw new Error('not fields')
  const { minutesOfDay, dayOfMonth, month, dayOfWeek } = cron.fields
  return { minutesOfDay, days: [...dayOfMonth.values], months: [...month.values], weekdays: [...dayOfWeek.values] }
}

t.test('fields take values, ranges, steps, lists and names', async (t) => {
  t.strictSame(fieldsOf('5,0 1-2 */10 JAN,mar-APR MON-FRI/2').minutesOfDay, [60, 65, 120, 125])
  t.match(fieldsOf('0 0 */10 JAN,mar-APR MON-FRI/2'), { days: [1, 11, 21, 31], months: [1, 3, 4], weekdays: [1, 3, 5] })
  t.strictSame(fieldsOf('50/5 0 ? * sun').minutesOfDay, [50, 55])
  t.strictSame(fieldsOf('@weekly'), fieldsOf('0 0 * * 0'))
})

t.test('a step of one does not restrict a day, and a larger one does', async (t) => {
  const isAny = (text: string) => {
    const cron = parseCron(text)
    return cron.kind === 'fields' && cron.fields.dayOfMonth.isAny
  }
  assertAccepts(t, isAny, ['0 0 * * *', '0 0 ? * *', '0 0 */1 * *'], ['0 0 */2 * *', '0 0 1-31 * *'])
})

t.test('an expression from a crontab with tabs, and one from a YAML block with a newline, are accepted', async (t) => {
  const wanted = fieldsOf('0 9 * * MON-FRI')
  for (const text of ['0\t9\t*\t*\tMON-FRI', ' 0 9\t * *  MON-FRI\n', '\r\n0 9 * * MON-FRI\r\n', '0\u00a09 *\u3000* MON-FRI'])
    t.strictSame(fieldsOf(text), wanted, JSON.stringify(text))
  t.strictSame(fieldsOf('@daily\n'), fieldsOf('0 0 * * *'))
  t.strictSame(parseCron(' @every 5m\n'), { kind: 'every', seconds: 300 })
})

t.test('intervals are durations', async (t) => {
  t.strictSame(parseCron('@every 1h30m'), { kind: 'every', seconds: 5_400 })
  t.strictSame(parseCron('@every 90s'), { kind: 'every', seconds: 90 })
})

for (const [text, message] of [
  ['', /has 0 fields.*Use five/],
  ['often', /has 1 field\. Use five/],
  ['* * * *', /has 4 fields/],
  ['* * * * * *', /has 6 fields/],
  ['60 * * * *', /the minute 60 is not valid. Use a number from 0 to 59/],
  ['* 24 * * *', /the hour 24 is not valid/],
  ['* * 0 * *', /the day of the month 0 is not valid/],
  ['* * * 13 *', /the month 13 is not valid.*name such as FEB/],
  ['* * * * 7', /the day of the week 7 is not valid. Use 0 or SUN for Sunday/],
  ['* * * * 5-7', /the day of the week 7 is not valid. Use 0 or SUN for Sunday/],
  ['* * * * 1,07', /the day of the week 07 is not valid. Use 0 or SUN for Sunday/],
  ['* * * * 8', /the day of the week 8 is not valid. Use a number from 0 to 6, or a name such as MON/],
  ['\t \n', /has 0 fields/],
  ['0\t9 * *\n', /has 4 fields/],
  ['* * * * Monday', /the day of the week Monday is not valid/],
  ['*/0 * * * *', /the step \/0 of the minute is not valid/],
  ['*/x * * * *', /the step/],
  ['30-10 * * * *', /the minute range 30-10 ends before it begins/],
  ['1,,2 * * * *', /the minute is missing/],
  ['1-2-3 * * * *', /not valid. Use a form/],
  ['1/2/3 * * * *', /not valid. Use a form/],
  ['* * * * 1-FRI', /the day of the week 1-FRI is not valid. Use a form/],
  ['TZ=UTC * * * * *', /time zone in its own field/],
  ['CRON_TZ=UTC 0 0 * * *', /time zone in its own field/],
  ['@reboot', /the macro @reboot is unknown/],
  ['@every 5', /the interval 5 is not valid/],
  ['@every 30s', /from 1m/],
  ['@every 9000h', /to 8784h/],
] as const)
  t.test(`"${text}" is refused with the reason`, async (t) => t.throws(() => parseCron(text), { name: CronError.name, message }))

t.test('names of the IANA database are zones, and nothing else', async (t) => {
  const names = ['UTC', 'Europe/Zurich', 'America/Argentina/Buenos_Aires', 'Asia/Calcutta', 'Etc/GMT+5']
  const aliases = ['US/Pacific', 'GB-Eire', 'Hongkong', 'EST5EDT', 'GMT0', 'W-SU']
  const wrong = ['', 'Local', 'EUROPE/ZURICH', 'europe/zurich', 'Mars/Olympus', '+01:00', 'Europe/Zurich ']
  const unknownToApiServer = ['US/PACIFIC', 'GB-EIRE', 'HongKong', 'Us/Pacific-New', 'SystemV/EST5', 'US/Pacific-New']
  const short = ['PST', 'IST', 'ACT', 'Factory']
  assertAccepts(t, isTimeZone, [...names, ...aliases], [...wrong, ...unknownToApiServer, ...short])
})

t.test('the offset is that of the instant', async (t) => {
  t.equal(offsetAt('Europe/Zurich', Date.UTC(2026, 2, 29, 0, 59, 59, 999)), 3_600_000)
  t.equal(offsetAt('Europe/Zurich', Date.UTC(2026, 2, 29, 1)), 7_200_000)
  t.equal(offsetAt('Asia/Kathmandu', 0), 19_800_000)
  t.equal(offsetAt('Pacific/Chatham', Date.UTC(2026, 0, 1)), 49_500_000)
  t.equal(offsetAt('UTC', 12_345), 0)
})

t.test('describeTimeZone suggests the spelling that was meant, and nothing for what is no zone', async (t) => {
  const hintOf = (name: string) => describeTimeZone(name).split('; ')[1]
  const meant = { utc: 'UTC', Utc: 'UTC', 'europe/lisbon': 'Europe/Lisbon', 'US/PACIFIC': 'US/Pacific', hongkong: 'Hongkong' }
  for (const [name, zone] of Object.entries(meant)) t.equal(hintOf(name), `did you mean ${zone}?`)
  assertEvery(t, ['+05:30', 'Local', 'Mars/Olympus', ''], (name) => hintOf(name) === undefined)
})
