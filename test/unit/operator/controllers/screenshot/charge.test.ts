import t from 'tap'
import type { ChargeOutcome } from '../../../../../operator/src/controllers/quota/charges.ts'
import { isCharged } from '../../../../../operator/src/controllers/quota/decide.ts'
import { ChargeBackoff, chargeFor } from '../../../../../operator/src/controllers/screenshot/charge.ts'
import { aScreenshot } from '../../../../support/fakes/builders.ts'

const time = { now: () => new Date(0) }
const charging = (outcome: ChargeOutcome) => ({ ...time, charge: async () => outcome, chargeBackoff: new ChargeBackoff() })
const unpaid = aScreenshot()

t.test('chargeFor lets a claim continue when the unit is charged', async (t) => {
  t.equal(await chargeFor(unpaid, charging('charged')), 'charged')
  t.notOk(isCharged(unpaid))
})

t.test('chargeFor does not charge a Screenshot twice', async (t) => {
  const charge = async (): Promise<ChargeOutcome> => t.fail('asked') as never
  const paid = { ...unpaid, spec: { ...unpaid.spec, reservation: 'res_1' } }
  const chargeBackoff = new ChargeBackoff()
  t.equal(await chargeFor(paid, { ...time, charge, chargeBackoff }), 'charged')
  t.ok(isCharged(paid))
  t.equal(await chargeFor(unpaid, { ...time, chargeBackoff }), 'charged', 'and nothing is charged without a charge function')
})

t.test('chargeFor does not try to charge an account again for a while after an error', async (t) => {
  let asked = 0
  const charge = async (): Promise<ChargeOutcome> => {
    asked++
    throw new Error('the account could not be charged in time')
  }
  const chargeBackoff = new ChargeBackoff()
  const at = (milliseconds: number) => ({ charge, chargeBackoff, now: () => new Date(milliseconds) })
  await t.rejects(chargeFor(unpaid, at(0)))
  t.strictSame(await chargeFor(unpaid, at(400)), { waitMilliseconds: 600 })
  await t.rejects(chargeFor(unpaid, at(1_000)))
  t.strictSame(await chargeFor(unpaid, at(1_500)), { waitMilliseconds: 1_500 })
  t.equal(asked, 2)
  t.equal(await chargeFor(unpaid, { ...charging('charged'), chargeBackoff, now: () => new Date(3_000) }), 'charged')
  t.ok(chargeBackoff.mayTry('default', 3_000), 'a success resets the backoff')
})
