import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { unavailable } from '../../errors.ts'
import type { PostRequests, RecordStore } from '../../store/ports.ts'
import { assertNoQuery } from '../../translate/common/query.ts'
import { toTestResult } from '../../translate/webhooks/webhook-record.ts'
import { newNonce } from './deliveries.ts'
import { assertOwned, type ById, FRESH } from './records.ts'

/** What the route of tests needs. */
export interface WebhookTestDeps {
  webhooks: Pick<RecordStore<Webhook>, 'find'>
  postRequests: Pick<PostRequests, 'askAndWait'>
  /** Aborts when this process is about to end. */
  draining: AbortSignal
  now: () => Date
}

/** A post ends within 5 s; the rest is for the way to the operator, whose leader may just be changing, and back. */
const WAIT_MILLISECONDS = 12_000

async function test(request: FastifyRequest<ById>, reply: FastifyReply, deps: WebhookTestDeps): Promise<FastifyReply> {
  assertNoQuery(request.query)
  const webhook = assertOwned(await deps.webhooks.find(request.params.id), request.accountName, 'webhook')
  const ending = new AbortController()
  const end = (): void => ending.abort()
  reply.raw.once('close', end)
  try {
    const requested = { do: 'test', nonce: newNonce(), at: deps.now() } as const
    const signal = AbortSignal.any([ending.signal, deps.draining])
    const result = await deps.postRequests.askAndWait(webhook, requested, WAIT_MILLISECONDS, signal)
    // That nobody posted says nothing of the endpoint: it is no result of a test.
    if (!result) throw unavailable('nobody can post the test event for the moment')
    return reply.headers(FRESH).send(toTestResult(result))
  } finally {
    reply.raw.off('close', end)
  }
}

/** The route that posts a sample event (spec 4.12). */
export function addWebhookTestRoute(app: FastifyInstance, deps: WebhookTestDeps): void {
  app.post<ById>('/webhooks/:id/test', { config: { scope: 'webhooks:write' } }, (request, reply) => test(request, reply, deps))
}
