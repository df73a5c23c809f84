import t from 'tap'
import type { ChargeAnswer } from '../../../../operator/src/quota/charges.ts'
import { chargeFor, mustBeCharged } from '../../../../operator/src/screenshot/charge.ts'
import { ChargeBackoff } from '../../../../operator/src/screenshot/charge-backoff.ts'
import { aScreenshot } from '../../../support/builders.ts'

const time = { now: () => new Date(0) }
const answering = (answer: ChargeAnswer) => ({ ...time, charge: async () => answer, chargeBackoff: new ChargeBackoff() })
const unpaid = aScreenshot()

t.test('chargeFor lets a claim go on when the unit is taken', async (t) => {
  t.equal(await chargeFor(unpaid, answering('charged')), undefined)
  t.ok(mustBeCharged(unpaid, answering('charged')))
})

t.test('chargeFor asks nobody for what is paid', async (t) => {
  const charge = async (): Promise<ChargeAnswer> => t.fail('asked') as never
  const paid = { ...unpaid, spec: { ...unpaid.spec, reservation: 'res_1' } }
  const chargeBackoff = new ChargeBackoff()
  t.equal(await chargeFor(paid, { ...time, charge, chargeBackoff }), undefined)
  t.notOk(mustBeCharged(paid, { charge }))
  t.equal(await chargeFor(unpaid, { ...time, chargeBackoff }), undefined, 'where nothing is charged, neither')
})

const refusals = [
  { answer: 'quota', action: { do: 'fail', code: 'USAGE_LIMIT_REACHED', reason: 'QuotaExceeded' } },
  { answer: 'suspended', action: { do: 'fail', code: 'ACCOUNT_SUSPENDED' } },
  { answer: 'missing', action: { do: 'note', reason: 'AccountNotFound' } },
] as const
for (const { answer, action } of refusals) {
  t.test(`chargeFor frees the runner and tells why when the answer is ${answer}`, async (t) => {
    t.match(await chargeFor(unpaid, answering(answer)), [{ do: 'release' }, action])
  })
}

t.test('chargeFor does not tell twice that there is no Account', async (t) => {
  const conditions = [
    { type: 'Succeeded', status: 'Unknown', reason: 'AccountNotFound', message: 'm', lastTransitionTime: '2026-11-21T10:00:00Z' } as const,
  ]
  t.strictSame(await chargeFor({ ...unpaid, status: { conditions } }, answering('missing')), [{ do: 'release' }])
})

t.test('chargeFor keeps no runner for an account whose count cannot be written, again and again', async (t) => {
  let asked = 0
  const charge = async (): Promise<ChargeAnswer> => {
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
  t.equal(await chargeFor(unpaid, { ...answering('charged'), chargeBackoff, now: () => new Date(3_000) }), undefined)
  t.ok(chargeBackoff.mayTry('default', 3_000), 'and what went well is forgotten')
})
