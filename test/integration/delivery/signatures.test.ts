import t, { type Test } from 'tap'
import type { WebhookSpec } from '../../../crds/src/kinds/webhook.ts'
import { seal, toSealingKey } from '../../../crds/src/sealed.ts'
import { newSigningSecret } from '../../../crds/src/webhook-signature.ts'
import { completedStatus } from '../../support/builders.ts'
import { hmacByOpenssl, verifyByNpm, verifyByPython } from '../../support/foreign-verifiers.ts'
import type { ReceivedRequest } from '../../support/https-receiver.ts'
import { openingKeys } from './ring.ts'
import { startReceiver, startStage } from './stage.ts'

// Signatures of deliveries as they came over the wire, verified by code that is not ours.

const VERIFIERS = { npm: verifyByNpm, Python: verifyByPython }
const HOUR_MILLISECONDS = 3_600_000
const MINUTE_MILLISECONDS = 60_000

interface Circumstances {
  skewMilliseconds?: number
  spec?: Partial<WebhookSpec>
}

const stage = await startStage(t)
const receiver = await startReceiver(t)

/** Lets an operator whose clock is wrong by so much deliver one event; returns what came. */
async function deliver(t: Test, webhook: string, { skewMilliseconds = 0, spec = {} }: Circumstances = {}): Promise<ReceivedRequest> {
  receiver.received.length = 0
  const leader = await stage.lead({ certificates: [receiver.ca], now: () => new Date(Date.now() + skewMilliseconds) })
  await stage.subscribe(webhook, { url: `${receiver.url}/${webhook}`, ...spec })
  t.teardown(() => stage.hooks.delete(webhook))
  // Of a webhook's creation only the second is known: what ends two seconds later is surely after it, whatever the operator's clock says.
  const completionTime = new Date(Date.now() + 2_000).toISOString()
  const result = { ...completedStatus().result, pageTitle: 'Größe: 12 ÷ 3 – ☃ </script>' }
  const shot = await stage.complete(completedStatus({ completionTime, result }))
  await stage.whenEntry(shot, webhook, { s: 'ok' })
  await leader.end()
  await stage.shots.delete(shot.metadata.name) // or the next webhook, active within those two seconds, would be told of it
  const requests = receiver.received.filter(({ path }) => path === `/${webhook}`)
  t.equal(requests.length, 1)
  return requests[0]!
}

/** The same request with one thing that somebody changed on the way. */
const forgeries = (request: ReceivedRequest): Record<string, ReceivedRequest> => ({
  body: { ...request, body: Buffer.from(request.body.toString().replace('completed', 'cancelled')) },
  id: { ...request, headers: { ...request.headers, 'webhook-id': 'evt_00000000000000000000000000' } },
  time: { ...request, headers: { ...request.headers, 'webhook-timestamp': String(Number(request.headers['webhook-timestamp']) - 1) } },
})

t.test('signatures hold before the libraries of Standard Webhooks and openssl, and none of a changed request does', async (t) => {
  const request = await deliver(t, 'plain')
  const secret = await stage.secretOf('plain')
  for (const [name, verify] of Object.entries(VERIFIERS)) {
    t.equal(await verify(secret, request), request.headers['webhook-id'], name)
    await t.rejects(verify(newSigningSecret(), request), `${name}: the secret of another`)
    for (const [what, forged] of Object.entries(forgeries(request))) await t.rejects(verify(secret, forged), `${name}: another ${what}`)
  }
  t.equal(request.headers['x-webhook-signature'], await hmacByOpenssl(secret, request.body))
  t.not(request.headers['x-webhook-signature'], await hmacByOpenssl(secret, forgeries(request).body!.body))
})

t.test('signatures hold with either secret during a rotation, and with no third', async (t) => {
  const [current, previous] = [newSigningSecret(), newSigningSecret()]
  const sealed = (text: string) =>
    seal(text, { purpose: 'signing-secret', subject: 'turning', account: 'default' }, toSealingKey(openingKeys[0]!))
  const expiryTime = new Date(Date.now() + HOUR_MILLISECONDS).toISOString()
  const signingSecrets = [{ sealed: await sealed(current) }, { sealed: await sealed(previous), expiryTime }]
  const request = await deliver(t, 'turning', { spec: { signingSecrets } })
  for (const [name, verify] of Object.entries(VERIFIERS)) {
    for (const secret of [current, previous]) t.equal(await verify(secret, request), request.headers['webhook-id'], name)
    await t.rejects(verify(newSigningSecret(), request), name)
  }
  t.equal(request.headers['x-webhook-signature'], await hmacByOpenssl(current, request.body))
  t.equal(request.headers['x-webhook-signature-previous'], await hmacByOpenssl(previous, request.body))
})

t.test('signatures hold when the clock of the operator is four minutes wrong; ten minutes are too many', async (t) => {
  for (const minutes of [4, -4, 10, -10]) {
    const name = minutes < 0 ? `slow-by${minutes}` : `fast-by-${minutes}`
    const request = await deliver(t, name, { skewMilliseconds: minutes * MINUTE_MILLISECONDS })
    const secret = await stage.secretOf(name)
    for (const [library, verify] of Object.entries(VERIFIERS)) {
      if (Math.abs(minutes) < 5) t.equal(await verify(secret, request), request.headers['webhook-id'], `${library}: ${minutes} minutes`)
      else await t.rejects(verify(secret, request), `${library}: ${minutes} minutes`)
    }
    t.equal(request.headers['x-webhook-signature'], await hmacByOpenssl(secret, request.body), 'the other header knows no time')
  }
})
