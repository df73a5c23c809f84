import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { toId, toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { AccountUsageStatus } from '../../../../../crds/src/kinds/account.ts'
import type { Screenshot, ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import type { JobErrorCode } from '../../../../../crds/src/schema/errors.ts'
import { awaitsRefund, type Changes, decide, isCharged, OPERATOR, recount } from '../../../../../operator/src/controllers/quota/decide.ts'
import { aScreenshot } from '../../../../support/fakes/builders.ts'

const NOW = new Date('2026-11-21T10:20:30.456Z')
const LAST_MONTH = new Date('2026-10-31T10:20:30.456Z')
const none: Changes = { charges: [], settlements: [], drops: [], refunds: [], forget: [] }
const condition = (type: string) => ({ type, status: 'True', reason: 'r', message: 'm', lastTransitionTime: NOW.toISOString() }) as const

const shot = (status: ScreenshotStatus, { at = NOW, paid = true } = {}): Screenshot => {
  const metadata = { creationTimestamp: at.toISOString() }
  return aScreenshot({ name: toObjectName(newId('scr', at)), metadata, spec: paid ? { reservation: 'res_1' } : {}, status })
}
const failed = (code: JobErrorCode, more: ScreenshotStatus = {}): ScreenshotStatus => ({
  phase: 'Failed',
  result: { error: { code, message: 'm' } },
  ...more,
})
const usage = (status: Partial<AccountUsageStatus> = {}, limit = 10) => ({
  spec: { limit },
  status: { period: '2026-11', used: 5, ...status },
})

const charged = [
  { name: 'one that a gateway charged', shot: shot({}), is: true },
  { name: 'one with the condition Charged', shot: shot({ conditions: [condition('Charged')] }, { paid: false }), is: true },
  { name: 'one whose condition was lost with its report', shot: shot({ attempt: 1 }, { paid: false }), is: true },
  { name: 'one that was never claimed', shot: shot({ phase: 'Pending' }, { paid: false }), is: false },
]
for (const { name, shot, is } of charged) {
  t.test(`isCharged evaluates ${name}`, async (t) => {
    t.equal(isCharged(shot), is)
  })
}

const refunds = [
  { name: 'a failed capture', status: failed('TIMEOUT'), is: true },
  { name: 'one with the condition Refunded', status: failed('TIMEOUT', { conditions: [condition('Refunded')] }), is: false },
  { name: 'one that was never charged', status: failed('USAGE_LIMIT_REACHED'), is: false },
]
for (const { name, status, is } of refunds) {
  t.test(`awaitsRefund is ${is} for ${name}`, async (t) => {
    t.equal(awaitsRefund(shot(status)), is)
  })
}

t.test('awaitsRefund is true for a picture from the cache, but not for one that was captured after all', async (t) => {
  const asked = (status: ScreenshotStatus): Screenshot => {
    const { spec, ...rest } = shot(status)
    return { ...rest, spec: { ...spec, cachedFrom: 'a'.repeat(64) } }
  }
  t.ok(awaitsRefund(asked({ phase: 'Completed' })))
  t.notOk(awaitsRefund(asked({ phase: 'Completed', conditions: [condition('Refunded')] })))
  t.notOk(awaitsRefund(asked({ phase: 'Completed', attempt: 1 })))
  t.notOk(awaitsRefund(asked({ phase: 'Pending' })))
})

t.test('recount counts the charges of this month without refunds, up to the limit', async (t) => {
  const live = [
    shot({ phase: 'Completed' }),
    shot(failed('TIMEOUT')),
    shot(failed('TIMEOUT', { conditions: [condition('Refunded')] })),
    shot({ phase: 'Completed' }, { at: LAST_MONTH }),
    shot({ phase: 'Pending' }, { paid: false }),
  ]
  const nobody = new Map<string, number>()
  const days = { '2026-11-21': 2 }
  t.strictSame(recount(live, nobody, 10, NOW), { period: '2026-11', used: 2, days }, 'a failed one is counted: its refund follows')
  const past = new Map([newId('scr', NOW), ...live.map(({ metadata }) => toId(metadata.name))].map((id) => [id, 1]))
  t.equal(recount(live, past, 10, NOW).used, 3, 'a record that is being archived is counted once')
  t.strictSame(recount(live, nobody, 1, NOW), { period: '2026-11', used: 1, days }, 'the API server would reject more')
})

t.test('decide writes nothing when nothing changes', async (t) => {
  t.strictSame(decide(usage(), none, NOW), { outcomes: [] })
})

t.test('charges do not count for the rate limit', async (t) => {
  const limited = { spec: { limit: 10, ratePerMinute: 1 }, status: { period: '2026-11', used: 0 } }
  const charges = [1, 2, 3].map((n) => ({ uid: `u${n}`, name: `mine-${n}`, units: 1 }))
  t.strictSame(decide(limited, { ...none, charges }, NOW).outcomes, [{ granted: 1 }, { granted: 1 }, { granted: 1 }])
})

t.test('decide writes nothing for reservations to drop that are gone already, however many they are', async (t) => {
  const drops = Array.from({ length: 100 }, (_, n) => `res_${n}`)
  t.strictSame(decide(usage(), { ...none, drops }, NOW), { outcomes: [] })
})

t.test('decide writes drops with other changes, and alone when there are many', async (t) => {
  const own = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `u${n}`, names: [`n${n}`], gateway: OPERATOR, at: NOW.toISOString() }))
  const drops = (count: number) => own(count).map(({ id }) => id)
  t.equal(decide(usage({ reservations: own(3) }), { ...none, drops: drops(3) }, NOW).status, undefined)
  t.match(
    decide(usage({ reservations: own(3) }), { ...none, drops: drops(3), refunds: [{ id: newId('scr', NOW), units: 1 }] }, NOW).status,
    {
      used: 4,
      reservations: { length: 0 },
    },
  )
  t.match(decide(usage({ reservations: own(100) }), { ...none, drops: drops(100) }, NOW).status, { used: 5, reservations: { length: 0 } })
})

t.test('recount, charges, refunds and settlements count the units of videos', async (t) => {
  const video = (status: ScreenshotStatus) => {
    const { spec, ...rest } = shot(status)
    return { ...rest, spec: { ...spec, options: { format: 'mp4' as const, videoDuration: 31 } } }
  }
  const past = new Map([[newId('scr', NOW), 12]])
  t.equal(recount([video({ phase: 'Completed' }), shot({ phase: 'Completed' })], past, 100, NOW).used, 4 + 1 + 12)
  const held = { id: 'res_1', names: ['a', 'b'], units: 4, gateway: 'g', at: NOW.toISOString() }
  const id = newId('scr', NOW)
  const changes = {
    ...none,
    charges: [{ uid: 'u', name: 'mine', units: 3 }],
    settlements: [{ reservation: held, neverMade: ['b'] }],
    refunds: [{ id, units: 2 }],
  }
  const { status, outcomes } = decide(usage({ used: 20, reservations: [held] }, 30), changes, NOW)
  t.strictSame(outcomes, [{ granted: 1 }])
  const charge = { id: 'u', names: ['mine'], units: 3, gateway: OPERATOR }
  t.match(status, { used: 20 - 4 - 2 + 3, refunds: [id], reservations: [charge] }, 'in one update')
  const tooDear = decide(usage({ used: 28 }, 30), { ...none, charges: [{ uid: 'u', name: 'mine', units: 3 }] }, NOW)
  t.strictSame(tooDear.outcomes, [{ granted: 0, refusal: 'quota' }])
})
