import t from 'tap'
import { type AccountUsageStatus, StoredUsageStatus } from '../../../../crds/src/kinds/account-usage.ts'
import { readStoredStatus, toStoredStatus } from '../../../../crds/src/usage/stored-usage.ts'

const at = '2026-11-21T10:00:00.000Z'
const full: AccountUsageStatus = {
  period: '2026-11',
  used: 12,
  window: [
    { second: 1_795_255_200, count: 3 },
    { second: 1_795_255_201, count: 9 },
  ],
  reservations: [
    { id: 'res_1', names: ['scr-a', 'scr-b'], gateway: 'gateway-7d4b/1', at },
    { id: 'res_2', names: ['scr-c'], gateway: 'operator', at, lastRetryAt: '2026-11-21T10:05:00.000Z' },
    { id: 'res_3', names: ['scr-d', 'scr-e'], units: 12, gateway: 'operator', at },
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

t.test('toStoredStatus writes one line per item', async (t) => {
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

t.test('toStoredStatus omits absent fields', async (t) => {
  t.strictSame(toStoredStatus({ used: 3 }), { used: 3 })
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
  for (const bad of ['a*2,b', 'a*0', 'a*-1', 'a*1.5', 'a*x', 'a*', '*2', 'a*2*2', 'a,,b', `a*${2 ** 60}`]) t.strictSame(read(bad), [], bad)
})
