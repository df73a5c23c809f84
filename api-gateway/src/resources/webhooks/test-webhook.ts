import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { FastifyReply } from 'fastify'
import { unavailable } from '../../common/errors.ts'
import type { Input } from '../../http/route.ts'
import type { PostRequests, RecordStore } from '../../store/ports.ts'
import { newNonce } from '../shared/nonce.ts'
import { type ById, findOwn } from '../shared/owned-records.ts'
import { toTestResult } from './record.ts'

/** Dependencies of the webhook test route. */
export interface WebhookTestDeps {
  webhooks: Pick<RecordStore<Webhook>, 'find'>
  postRequests: Pick<PostRequests, 'askAndWait'>
  /** Aborts on shutdown. */
  draining: AbortSignal
  now: () => Date
}

/** A post takes at most 5 s. The rest is for the operator, whose leader may be changing. */
const WAIT_MILLISECONDS = 12_000

/** Requests a post of a sample event, and waits for the result. */
export async function testWebhook(input: Input<ById>, deps: WebhookTestDeps): Promise<FastifyReply> {
  const { reply } = input
  const webhook = await findOwn(input, deps.webhooks, 'webhook')
  const ending = new AbortController()
  const end = (): void => ending.abort()
  reply.raw.once('close', end)
  try {
    const requested = { do: 'test', nonce: newNonce(), at: deps.now() } as const
    const signal = AbortSignal.any([ending.signal, deps.draining])
    const result = await deps.postRequests.askAndWait(webhook, requested, WAIT_MILLISECONDS, signal)
    // A missing response says nothing about the endpoint, so it is not a test result.
    if (!result) throw unavailable('the test event cannot be posted at the moment: retry in a few seconds')
    return reply.send(toTestResult(result))
  } finally {
    reply.raw.off('close', end)
  }
}
