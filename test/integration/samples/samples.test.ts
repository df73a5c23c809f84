import t from 'tap'
import { newSigningSecret } from '../../../crds/src/crypto/signatures.ts'
import { askSample, languages, type Question } from '../../samples/run.ts'
import { captureDelivery, forgeries, newSecretsInRotation } from '../delivery/capture-delivery.ts'
import { startReceiver, startStage } from '../delivery/stage.ts'

// The samples of docs/webhooks.md with deliveries as they arrive over the network. Readers copy the samples, so they must be right.

const MINUTE_MILLISECONDS = 60_000
const [GOOD, UNTIMED, BAD] = [
  { isGenuine: true, isSigned: true },
  { isGenuine: false, isSigned: true },
  { isGenuine: false, isSigned: false },
]

const studio = { stage: await startStage(t), receiver: await startReceiver(t) }
const plain = await captureDelivery(t, studio, 'plain')
const secret = await studio.stage.secretOf('plain')
const { current, previous, signingSecrets } = await newSecretsInRotation('turning')
const turning = await captureDelivery(t, studio, 'turning', { spec: { signingSecrets } })
const old = await captureDelivery(t, studio, 'old', { skewMilliseconds: -6 * MINUTE_MILLISECONDS })
// Far in the future, because a first build of the sample in Go takes more than a minute.
const early = await captureDelivery(t, studio, 'early', { skewMilliseconds: 60 * MINUTE_MILLISECONDS })
const forged = forgeries(plain)

const cases: { name: string; question: Question; verdict: typeof GOOD }[] = [
  { name: 'accept a delivery', question: { ...plain, secret }, verdict: GOOD },
  { name: 'accept the new secret during a rotation', question: { ...turning, secret: current }, verdict: GOOD },
  { name: 'accept the old secret during a rotation', question: { ...turning, secret: previous }, verdict: GOOD },
  { name: 'reject the secret of another webhook', question: { ...plain, secret: newSigningSecret() }, verdict: BAD },
  { name: 'reject another body', question: { ...forged.body!, secret }, verdict: BAD },
  { name: 'reject another id', question: { ...forged.id!, secret }, verdict: UNTIMED },
  { name: 'reject another time', question: { ...forged.time!, secret }, verdict: UNTIMED },
  { name: 'reject a delivery that is six minutes old', question: { ...old, secret: await studio.stage.secretOf('old') }, verdict: UNTIMED },
  { name: 'reject a delivery from the future', question: { ...early, secret: await studio.stage.secretOf('early') }, verdict: UNTIMED },
  { name: 'reject a request without these headers', question: { headers: {}, body: plain.body, secret }, verdict: BAD },
  {
    name: 'reject malformed headers',
    question: {
      headers: { 'webhook-timestamp': 'now', 'webhook-signature': 'v1,§ v1 ,', 'x-webhook-signature': 'zz' },
      body: plain.body,
      secret,
    },
    verdict: BAD,
  },
]

for (const language of languages) {
  t.test(`the sample in ${language} tells genuine deliveries from all others`, async (t) => {
    const verdicts = await askSample(
      language,
      cases.map(({ question }) => question),
    )
    t.equal(verdicts.length, cases.length)
    for (const [index, { name, verdict }] of cases.entries()) t.strictSame(verdicts[index], verdict, name)
  })
}
