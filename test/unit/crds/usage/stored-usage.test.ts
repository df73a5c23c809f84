import t from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { type AccountUsageStatus, StoredUsageStatus } from '../../../../crds/src/kinds/account.ts'
import { readStoredStatus, toStoredStatus } from '../../../../crds/src/usage/stored-usage.ts'
import {
  addUnits,
  type DailyUsage,
  everyDay,
  MAX_DAYS,
  readDays,
  removeUnits,
  UsageDraft,
  writeDays,
} from '../../../../crds/src/usage/usage.ts'
import { assertEvery } from '../../../support/accepts.ts'

const chargedAt = '2026-11-21T10:00:00.000Z'
const full: AccountUsageStatus = {
  period: '2026-11',
  used: 12,
  window: [
    { second: 1_795_255_200, count: 3 },
    { second: 1_795_255_201, count: 9 },
  ],
  reservations: [
    { id: 'res_1', names: ['scr-a', 'scr-b'], gateway: 'gateway-7d4b/1', at: chargedAt },
    { id: 'res_2', names: ['scr-c'], gateway: 'operator', at: chargedAt, lastRetryAt: '2026-11-21T10:05:00.000Z' },
    { id: 'res_3', names: ['scr-d', 'scr-e'], units: 12, gateway: 'operator', at: chargedAt },
  ],
  refunds: ['scr_x'],
  days: { '2026-11-20': 2, '2026-11-21': 10 },
}

t.test('toStoredStatus and readStoredStatus are inverse', async (t) => {
  for (const status of [full, { used: 0 }, { used: 0, window: [], reservations: [], refunds: [], days: {} }]) {
    const stored = toStoredStatus(status)
    t.ok(StoredUsageStatus.safeParse(stored).success, JSON.stringify(stored))
    t.strictSame(readStoredStatus(stored), status)
  }
})

t.test('toStoredStatus writes one line per item, and omits absent fields', async (t) => {
  t.strictSame(toStoredStatus({ used: 3 }), { used: 3 })
  t.match(toStoredStatus(full), {
    window: '1795255200=3 1795255201=9',
    days: '2026-11-20=2 2026-11-21=10',
    reservations: [
      'res_1 2026-11-21T10:00:00.000Z - gateway-7d4b/1 scr-a,scr-b',
      'res_2 2026-11-21T10:00:00.000Z 2026-11-21T10:05:00.000Z operator scr-c',
      'res_3 2026-11-21T10:00:00.000Z - operator scr-d*12,scr-e*12',
    ],
  })
})

t.test('readStoredStatus ignores invalid lines', async (t) => {
  t.strictSame(readStoredStatus({ used: 1, window: 'x 7=2', reservations: ['', 'one two', 'r 2026 - gw a'] }), {
    used: 1,
    window: [{ second: 7, count: 2 }],
    reservations: [{ id: 'r', names: ['a'], gateway: 'gw', at: '2026' }],
  })
})

t.test('readStoredStatus reads names without units as 1, and ignores lines with other units than Tintype writes', async (t) => {
  const read = (names: string) => readStoredStatus({ used: 1, reservations: [`r 2026 - gw ${names}`] }).reservations
  t.match(read('a*1,b'), [{ names: ['a', 'b'] }])
  t.equal(read('a,b')?.[0]?.units, undefined)
  const wrong = ['a*2,b', 'a*0', 'a*-1', 'a*1.5', 'a*x', 'a*', '*2', 'a*2*2', 'a,,b', `a*${2 ** 60}`]
  assertEvery(t, wrong, (names) => read(names)?.length === 0)
})

const at = (text: string) => new Date(`${text}Z`)

t.test('units are added to the UTC day of the charge', async (t) => {
  const days = addUnits(addUnits({ '2026-11-24': 3 }, at('2026-11-25T00:00:00'), 2, '2026-11'), at('2026-11-24T23:59:59'), 1, '2026-11')
  t.strictSame(days, { '2026-11-24': 4, '2026-11-25': 2 })
  const late = addUnits({ '2026-11-24': 1, '2026-11-25': 2 }, at('2026-11-23T12:00:00'), 3, '2026-11')
  t.equal(writeDays(late), '2026-11-23=3 2026-11-24=1 2026-11-25=2', 'in order')
  t.strictSame(addUnits({}, at('2026-11-30T23:59:59'), 2, '2026-12'), { '2026-12-01': 2 }, 'a later month pays on its first day')
})

t.test('the newest days are kept, in order', async (t) => {
  let days: DailyUsage = {}
  for (let day = 0; day < 100; day++) days = addUnits(days, new Date(Date.UTC(2026, 8, 1 + day)), 1, '2026-09')
  t.equal(Object.keys(days).length, MAX_DAYS)
  t.strictSame(Object.keys(days), Object.keys(days).toSorted())
  t.equal(Object.keys(days).at(-1), '2026-12-09')
  t.ok(writeDays(addUnits(days, at('2026-12-10T00:00:00'), 10_000_000_000, '2026-12')).length < 2_048, 'the line fits the object')
})

t.test('units are taken back from their day, and never more than it has', async (t) => {
  const days = { '2026-11-24': 3, '2026-11-25': 2 }
  t.strictSame(removeUnits(days, at('2026-11-24T12:00:00'), 2), { '2026-11-24': 1, '2026-11-25': 2 })
  t.strictSame(removeUnits(days, at('2026-11-25T12:00:00'), 5), { '2026-11-24': 3 })
  t.strictSame(removeUnits(days, at('2026-11-01T12:00:00'), 1), days, 'the day was not counted')
})

t.test('the line of the object is read as it was written, without entries that Tintype cannot have written', async (t) => {
  const days = { '2026-11-24': 3, '2026-11-25': 2 }
  t.equal(writeDays(days), '2026-11-24=3 2026-11-25=2')
  t.strictSame(readDays(writeDays(days)), days)
  t.strictSame(readDays(''), {})
  t.strictSame(readDays('x 2026-13-45=1 2026-11-25=-1 2026-11-25=x 2026-11-25 2026-11-26=4'), { '2026-11-26': 4 })
})

t.test('every day since the first charge is listed, also those without charges', async (t) => {
  t.strictSame(everyDay({ '2026-10-31': 2, '2026-11-02': 5 }, at('2026-11-03T01:00:00')), [
    { date: '2026-10-31', units: 2 },
    { date: '2026-11-01', units: 0 },
    { date: '2026-11-02', units: 5 },
    { date: '2026-11-03', units: 0 },
  ])
  t.strictSame(everyDay({}, at('2026-11-03T01:00:00')), [])
  t.equal(everyDay({ '2020-01-01': 1 }, at('2026-11-03T01:00:00')).length, MAX_DAYS, 'a wrong day makes no endless list')
})

t.test('charges, releases and refunds keep the sum of the days equal to the usage of the month', async (t) => {
  const [monday, tuesday] = [at('2026-11-23T10:00:00'), at('2026-11-24T10:00:00')]
  const draft = new UsageDraft({ spec: { limit: 100 } }, tuesday)
  const reserve = (id: string, names: string[], when: Date, units = 1) =>
    draft.reserve({ id, names, units, gateway: 'a', at: when, countsForRate: false })
  reserve('one', ['a', 'b'], monday)
  reserve('two', ['c'], tuesday, 4)
  t.strictSame(draft.toStatus().days, { '2026-11-23': 2, '2026-11-24': 4 })
  draft.release('one', ['b'], 'a')
  const failed = newId('scr', tuesday)
  draft.refund(failed, 4)
  draft.refund(failed, 4)
  t.match(draft.toStatus(), { used: 1, days: { '2026-11-23': 1 } })
  reserve('three', ['d'], at('2026-12-01T00:00:01'))
  t.match(draft.toStatus(), { period: '2026-12', used: 1, days: { '2026-11-23': 1, '2026-12-01': 1 } })
  // The month of this charge is over, so nothing is refunded.
  draft.refund(newId('scr', monday))
  t.equal(draft.toStatus().days?.['2026-11-23'], 1)
})
