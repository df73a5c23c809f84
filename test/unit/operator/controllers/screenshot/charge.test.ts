import t from 'tap'
import type { ChargeOutcome } from '../../../../../operator/src/controllers/quota/charges.ts'
import { isCharged } from '../../../../../operator/src/controllers/quota/decide.ts'
import { ChargeBackoff, chargeFor } from '../../../../../operator/src/controllers/screenshot/charge.ts'
import { aScreenshot } from '../../../../support/fakes/builders.ts'

const time = { now: () => new Date(0) }
const charging = (outcome: ChargeOutcome) => ({ ...time, charge: async () => outcome, chargeBackoff: new ChargeBackoff() })
const unpaid = aScreenshot()

t.test('chargeFor lets a claim continue when the unit is charged', async (t) => {
  t.equal(await chargeFor(unpaid, charging('charged')), undefined)
  t.notOk(isCharged(unpaid))
})

t.test('chargeFor does not charge a Screenshot twice', async (t) => {
  const charge = async (): Promise<ChargeOutcome> => t.fail('asked') as never
  const paid = { ...unpaid, spec: { ...unpaid.spec, reservation: 'res_1' } }
  const chargeBackoff = new ChargeBackoff()
  t.equal(await chargeFor(paid, { ...time, charge, chargeBackoff }), undefined)
  t.ok(isCharged(paid))
  t.equal(await chargeFor(unpaid, { ...time, chargeBackoff }), undefined, 'and nothing is charged without a charge function')
})

const refusals = [
  { outcome: 'quota', action: { do: 'fail', code: 'USAGE_LIMIT_REACHED', reason: 'QuotaExceeded' } },
  { outcome: 'suspended', action: { do: 'fail', code: 'ACCOUNT_SUSPENDED' } },
  { outcome: 'missing', action: { do: 'note', reason: 'AccountNotFound' } },
] as const
for (const { outcome, action } of refusals) {
  t.test(`chargeFor releases the runner and reports why when the outcome is ${outcome}`, async (t) => {
    t.match(await chargeFor(unpaid, charging(outcome)), [{ do: 'release' }, action])
  })
}

t.test('chargeFor does not repeat the note about a missing Account', async (t) => {
  const conditions = [
    { type: 'Succeeded', status: 'Unknown', reason: 'AccountNotFound', message: 'm', lastTransitionTime: '2026-11-21T10:00:00Z' } as const,
  ]
  t.strictSame(await chargeFor({ ...unpaid, status: { conditions } }, charging('missing')), [{ do: 'release' }])
})

t.test('chargeFor keeps no runner for an account that cannot be charged', async (t) => {
  let asked = 0
  const charge = async (): Promise<ChargeOutcome> => {
    asked++
    throw new Error('the account could not be charged in time')
  }
  const chargeBackoff = new ChargeBackoff()
  const at = (milliseconds: number) => ({ charge, chargeBackoff, now: () => new Date(milliseconds) })
  await t.rejects(chargeFor(unpaid, at(0)))
  t.strictSame(await chargeFor(unpaid, at(400)), [{ do: 'release' }, { do: 'requeue', afterMilliseconds: 600 }])
  await t.rejects(chargeFor(unpaid, at(1_000)))
  t.strictSame(await chargeFor(unpaid, at(1_500)), [{ do: 'release' }, { do: 'requeue', afterMilliseconds: 1_500 }])
  t.equal(asked, 2)
  t.equal(await chargeFor(unpaid, { ...charging('charged'), chargeBackoff, now: () => new Date(3_000) }), undefined)
  t.ok(chargeBackoff.mayTry('default', 3_000), 'a success resets the backoff')
})
