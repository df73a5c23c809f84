import t from 'tap'
import { newSigningSecret } from '../../../crds/src/crypto/signatures.ts'
import { hmacByOpenssl, verifyByNpm, verifyByPython } from '../../support/servers/foreign-verifiers.ts'
import { captureDelivery, forgeries, newSecretsInRotation } from './capture-delivery.ts'
import { startReceiver, startStage } from './stage.ts'

// Signatures of deliveries as received, verified by independent code.

const VERIFIERS = { npm: verifyByNpm, Python: verifyByPython }
const MINUTE_MILLISECONDS = 60_000

const stage = await startStage(t)
const receiver = await startReceiver(t)
const studio = { stage, receiver }

t.test('signatures are valid for the libraries of Standard Webhooks and openssl, but not for a changed request', async (t) => {
  const request = await captureDelivery(t, studio, 'plain')
  const secret = await stage.secretOf('plain')
  for (const [name, verify] of Object.entries(VERIFIERS)) {
    t.equal(await verify(secret, request), request.headers['webhook-id'], name)
    await t.rejects(verify(newSigningSecret(), request), `${name}: another secret`)
    for (const [what, forged] of Object.entries(forgeries(request))) await t.rejects(verify(secret, forged), `${name}: another ${what}`)
  }
  t.equal(request.headers['x-webhook-signature'], await hmacByOpenssl(secret, request.body))
  t.not(request.headers['x-webhook-signature'], await hmacByOpenssl(secret, forgeries(request).body!.body))
})

t.test('signatures are valid with either secret during a rotation, and with no third', async (t) => {
  const { current, previous, signingSecrets } = await newSecretsInRotation('turning')
  const request = await captureDelivery(t, studio, 'turning', { spec: { signingSecrets } })
  for (const [name, verify] of Object.entries(VERIFIERS)) {
    for (const secret of [current, previous]) t.equal(await verify(secret, request), request.headers['webhook-id'], name)
    await t.rejects(verify(newSigningSecret(), request), name)
  }
  t.equal(request.headers['x-webhook-signature'], await hmacByOpenssl(current, request.body))
  t.equal(request.headers['x-webhook-signature-previous'], await hmacByOpenssl(previous, request.body))
})

t.test('signatures are valid when the clock of the operator is four minutes off, but not ten', async (t) => {
  for (const minutes of [4, -4, 10, -10]) {
    const name = minutes < 0 ? `slow-by${minutes}` : `fast-by-${minutes}`
    const request = await captureDelivery(t, studio, name, { skewMilliseconds: minutes * MINUTE_MILLISECONDS })
    const secret = await stage.secretOf(name)
    for (const [library, verify] of Object.entries(VERIFIERS)) {
      if (Math.abs(minutes) < 5) t.equal(await verify(secret, request), request.headers['webhook-id'], `${library}: ${minutes} minutes`)
      else await t.rejects(verify(secret, request), `${library}: ${minutes} minutes`)
    }
    t.equal(request.headers['x-webhook-signature'], await hmacByOpenssl(secret, request.body), 'the other header contains no time')
  }
})
