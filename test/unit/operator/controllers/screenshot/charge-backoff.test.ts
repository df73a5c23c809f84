import t from 'tap'
import { ChargeBackoff } from '../../../../../operator/src/controllers/screenshot/charge.ts'

t.test('ChargeBackoff lets an account be charged that has no failure', async (t) => {
  const chargeBackoff = new ChargeBackoff()
  chargeBackoff.onFailed('other', 0)
  t.ok(chargeBackoff.mayTry('acme', 0))
  t.ok(chargeBackoff.mayTry('acme', 0))
})

t.test('ChargeBackoff waits longer after each failure, up to a minute', async (t) => {
  const chargeBackoff = new ChargeBackoff()
  const waits = Array.from({ length: 9 }, () => {
    chargeBackoff.onFailed('acme', 0)
    return chargeBackoff.waitOf('acme', 0)
  })
  t.strictSame(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

t.test('ChargeBackoff allows one trial at a time, until a charge succeeds', async (t) => {
  const chargeBackoff = new ChargeBackoff()
  chargeBackoff.onFailed('acme', 0)
  t.notOk(chargeBackoff.mayTry('acme', 999))
  t.ok(chargeBackoff.mayTry('acme', 1_000))
  t.notOk(chargeBackoff.mayTry('acme', 1_001))
  t.ok(chargeBackoff.mayTry('acme', 1_001 + chargeBackoff.waitOf('acme', 1_001)), 'a trial without a result does not block later ones')
  chargeBackoff.onSucceeded('acme')
  t.ok(chargeBackoff.mayTry('acme', 1_002))
  t.ok(chargeBackoff.mayTry('acme', 1_002))
})
