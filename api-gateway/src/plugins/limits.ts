import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type CallKind, type CallLimits, rateLimitExceeded, toLimitHeaders } from '../quota/limits.ts'
import type { QuotaStore } from '../store/ports.ts'

interface LimitDeps {
  quota: Pick<QuotaStore, 'facts'>
  calls: CallLimits
  now: () => Date
}

/** Polls of single records are free, because clients poll every record of a batch. The quota counts creates, and runs of schedules. */
function kindOf({ method, routeOptions: { url = '', config } }: FastifyRequest): CallKind | undefined {
  if (url.endsWith('/schedules/:id/run')) return undefined
  const isRead = method === 'GET' || method === 'HEAD'
  const isOfScreenshots = config.scope?.startsWith('screenshots:')
  if (isRead) return isOfScreenshots && url.includes('/:') ? undefined : 'read'
  if (method === 'DELETE' && isOfScreenshots) return 'read'
  return isOfScreenshots ? undefined : 'management'
}

/** Sends the account's limits with every authenticated response, and limits the rate of calls that cost no quota. Depends on auth. */
export function addLimits(app: FastifyInstance, { quota, calls, now }: LimitDeps): void {
  app.addHook('onRequest', async (request) => {
    if (request.accountName === '') return
    const kind = kindOf(request)
    const seconds = kind && calls.take(kind, request.accountName, now())
    if (kind && seconds) throw rateLimitExceeded({ ratePerMinute: calls.perMinute[kind], rateResetSeconds: seconds })
  })
  app.addHook('onSend', async (request, reply) => {
    // Rate limit errors already have these headers. New values could contradict their Retry-After.
    if (request.accountName === '' || reply.hasHeader('x-quota-limit')) return
    reply.headers(toLimitHeaders(quota.facts(request.account, now())))
  })
}
