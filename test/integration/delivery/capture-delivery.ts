import type { Test } from 'tap'
import { seal, toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import { newSigningSecret } from '../../../crds/src/crypto/webhook-signature.ts'
import type { WebhookSpec } from '../../../crds/src/kinds/webhook.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import type { HttpsReceiver, ReceivedRequest } from '../../support/servers/https-receiver.ts'
import { openingKeys } from './ring.ts'
import type { startStage } from './stage.ts'

/** What captures are made with: one stage and one receiver, on which nothing else happens meanwhile. */
export interface Studio {
  stage: Awaited<ReturnType<typeof startStage>>
  receiver: HttpsReceiver
}

interface Circumstances {
  /** How far the operator's clock is ahead. */
  skewMilliseconds?: number
  spec?: Partial<WebhookSpec>
}

/** Lets an operator deliver one event to a webhook of that name; returns the request as it came over the wire. */
export async function captureDelivery(
  t: Test,
  { stage, receiver }: Studio,
  webhook: string,
  { skewMilliseconds = 0, spec = {} }: Circumstances = {},
): Promise<ReceivedRequest> {
  const leader = await stage.lead({ certificates: [receiver.ca], now: () => new Date(Date.now() + skewMilliseconds) })
  await stage.subscribe(webhook, { url: `${receiver.url}/${webhook}`, ...spec })
  t.teardown(() => stage.hooks.delete(webhook))
  // Of a webhook's creation only the second is known: what ends two seconds later is surely after it, whatever the operator's clock says.
  const completionTime = new Date(Date.now() + 2_000).toISOString()
  const result = { ...completedStatus().result, pageTitle: 'Größe: 12 ÷ 3 – ☃ </script>' }
  const shot = await stage.complete(completedStatus({ completionTime, result }))
  await stage.whenEntry(shot, webhook, { state: 'ok' })
  await leader.end()
  await stage.shots.delete(shot.metadata.name) // or the next webhook, active within those two seconds, would be told of it
  const requests = receiver.received.filter(({ path }) => path === `/${webhook}`)
  if (requests.length !== 1) throw new Error(`${webhook} was told of one event ${requests.length} times`)
  return requests[0]!
}

const HOUR_MILLISECONDS = 3_600_000

/** Two secrets of a webhook of that name in the middle of a rotation, and the part of its spec that holds them. */
export async function newSecretsInRotation(webhook: string) {
  const [current, previous] = [newSigningSecret(), newSigningSecret()]
  const sealed = (text: string) =>
    seal(text, { purpose: 'signing-secret', subject: webhook, account: 'default' }, toSealingKey(openingKeys[0]!))
  const expiryTime = new Date(Date.now() + HOUR_MILLISECONDS).toISOString()
  return { current, previous, signingSecrets: [{ sealed: await sealed(current) }, { sealed: await sealed(previous), expiryTime }] }
}

/** The same request with one thing that somebody changed on the way. */
export const forgeries = (request: ReceivedRequest): Record<string, ReceivedRequest> => ({
  body: { ...request, body: Buffer.from(request.body.toString().replace('completed', 'cancelled')) },
  id: { ...request, headers: { ...request.headers, 'webhook-id': 'evt_00000000000000000000000000' } },
  time: { ...request, headers: { ...request.headers, 'webhook-timestamp': String(Number(request.headers['webhook-timestamp']) - 1) } },
})
