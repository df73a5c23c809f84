import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CallKind, CallLimits } from '../quota/call-limits.ts'
import { rateLimitExceeded } from '../quota/refusals.ts'
import type { QuotaStore } from '../store/ports.ts'
import { toLimitHeaders } from '../translate/account/usage.ts'

interface LimitDeps {
  quota: Pick<QuotaStore, 'facts'>
  calls: CallLimits
  now: () => Date
}

/** Clients are told to poll each record of a batch: that is free. Creating requests are counted by the quota. */
function kindOf({ method, routeOptions: { url = '', config } }: FastifyRequest): CallKind | undefined {
  const isRead = method === 'GET' || method === 'HEAD'
  const isOfScreenshots = config.scope?.startsWith('screenshots:')
  if (isRead) return isOfScreenshots && url.includes('/:') ? undefined : 'read'
  if (method === 'DELETE' && isOfScreenshots) return 'read'
  return isOfScreenshots ? undefined : 'management'
}

/** Tells every authenticated caller where its account stands, and refuses floods of calls that cost nothing. Depends on auth. */
export function addLimits(app: FastifyInstance, { quota, calls, now }: LimitDeps): void {
  app.addHook('onRequest', async (request) => {
    if (request.accountName === '') return
    const kind = kindOf(request)
    const seconds = kind && calls.take(kind, request.accountName, now())
    if (kind && seconds) throw rateLimitExceeded({ ratePerMinute: calls.perMinute[kind], rateResetSeconds: seconds })
  })
  app.addHook('onSend', async (request, reply) => {
    // A refusal by rate has told it already, as it was then: a second later it would contradict its own Retry-After.
    if (request.accountName === '' || reply.hasHeader('x-quota-limit')) return
    reply.headers(toLimitHeaders(quota.facts(request.account, now())))
  })
}
