import type { Test } from 'tap'
import { newSigningSecret } from '../../../crds/src/crypto/signatures.ts'
import type { WebhookSpec } from '../../../crds/src/kinds/webhook.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import type { HttpsReceiver, ReceivedRequest } from '../../support/servers/https-receiver.ts'
import { sealFor, type startStage } from './stage.ts'

/** What captures use: one stage and one receiver that do nothing else meanwhile. */
export interface Studio {
  stage: Awaited<ReturnType<typeof startStage>>
  receiver: HttpsReceiver
}

interface DeliveryConditions {
  /** How far the operator's clock is ahead. */
  skewMilliseconds?: number
  spec?: Partial<WebhookSpec>
}

/** Delivers one event to a webhook of that name. Returns the request as received. */
export async function captureDelivery(
  t: Test,
  { stage, receiver }: Studio,
  webhook: string,
  { skewMilliseconds = 0, spec = {} }: DeliveryConditions = {},
): Promise<ReceivedRequest> {
  const leader = await stage.lead({ certificates: [receiver.ca], now: () => new Date(Date.now() + skewMilliseconds) })
  await stage.subscribe(webhook, { url: `${receiver.url}/${webhook}`, ...spec })
  t.teardown(() => stage.hooks.delete(webhook))
  // The creation time of a webhook has a resolution of one second. An end two seconds later is certainly after it, whatever the operator's
  // clock says.
  const completionTime = new Date(Date.now() + 2_000).toISOString()
  const result = { ...completedStatus().result, pageTitle: 'Größe: 12 ÷ 3 – ☃ </script>' }
  const shot = await stage.complete(completedStatus({ completionTime, result }))
  await stage.whenEntry(shot, webhook, { state: 'ok' })
  await leader.end()
  await stage.shots.delete(shot.metadata.name) // otherwise the next webhook, active within those two seconds, would receive it
  const requests = receiver.received.filter(({ path }) => path === `/${webhook}`)
  if (requests.length !== 1) throw new Error(`${webhook} received one event ${requests.length} times`)
  return requests[0]!
}

const HOUR_MILLISECONDS = 3_600_000

/** Two secrets of a webhook of that name during a rotation, and the part of its spec that contains them. */
export async function newSecretsInRotation(webhook: string) {
  const [current, previous] = [newSigningSecret(), newSigningSecret()]
  const [sealed, before] = await Promise.all([current, previous].map((secret) => sealFor(webhook, secret)))
  const expiryTime = new Date(Date.now() + HOUR_MILLISECONDS).toISOString()
  return { current, previous, signingSecrets: [{ sealed: sealed! }, { sealed: before!, expiryTime }] }
}

/** Copies of the request with one changed value each. */
export const forgeries = (request: ReceivedRequest): Record<string, ReceivedRequest> => ({
  body: { ...request, body: Buffer.from(request.body.toString().replace('completed', 'cancelled')) },
  id: { ...request, headers: { ...request.headers, 'webhook-id': 'evt_00000000000000000000000000' } },
  time: { ...request, headers: { ...request.headers, 'webhook-timestamp': String(Number(request.headers['webhook-timestamp']) - 1) } },
})
