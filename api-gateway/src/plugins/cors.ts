import type { FastifyInstance } from 'fastify'

/** Response headers that pages of allowed origins can read. */
const EXPOSED = [
  'ETag',
  'Idempotent-Replayed',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Ignored-Options',
  'X-Queue-Position',
  'X-Quota-Limit',
  'X-Quota-Remaining',
  'X-Quota-Reset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(', ')
const ACCEPTED = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, Range, X-Request-Id'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const PREFLIGHT_SECONDS = '600'

/**
 * Lets pages of the configured origins call the API. Off by default, because every visitor of a page can read an API key in it. Must be added
 * before methods, which also responds to OPTIONS.
 */
export function addCors(app: FastifyInstance, { corsOrigins }: { corsOrigins: readonly string[] }): void {
  if (corsOrigins.length === 0) return
  const toAnyone = corsOrigins.includes('*')
  app.addHook('onRequest', async ({ method, headers }, reply) => {
    if (!toAnyone) reply.header('vary', 'Origin')
    const { origin } = headers
    if (origin === undefined || !(toAnyone || corsOrigins.includes(origin))) return
    reply.headers({ 'access-control-allow-origin': toAnyone ? '*' : origin, 'access-control-expose-headers': EXPOSED })
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return
    reply.headers({
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': ACCEPTED,
      'access-control-max-age': PREFLIGHT_SECONDS,
    })
  })
}
