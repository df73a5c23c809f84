import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Response headers that pages of allowed origins can read. */
const EXPOSED_HEADERS = [
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
]
const ALLOWED_HEADERS = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer', 'Range', 'X-Request-Id']
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const PREFLIGHT_SECONDS = 600

/**
 * Lets pages of the configured origins call the API. Off by default, because every visitor of a page can read an API key in it. The plugin adds
 * its hook when the app starts, so hooks that must run later, such as authentication, must be added in `app.after`.
 */
export function addCors(app: FastifyInstance, { corsOrigins }: { corsOrigins: readonly string[] }): void {
  if (corsOrigins.length === 0) return
  app.register(cors, {
    // A list would send the allowed methods and headers to pages of all origins.
    origin: corsOrigins.includes('*')
      ? '*'
      : (origin, done) => done(null, origin !== undefined && corsOrigins.includes(origin) ? origin : false),
    methods: METHODS,
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    // addMethods responds to every OPTIONS request, with Allow. It rejects unknown paths.
    preflightContinue: true,
    strictPreflight: false,
  })
}
