import { z } from 'zod'

interface Header {
  description: string
  schema: z.ZodType
  example: string | number
  required?: true
}

const whole = z.int().min(0)

/** Every response header that a client may want to read. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'Id of the request: the client’s own, or a generated one. Quote it in bug reports.',
    schema: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
    example: '3f6c1d0e-8d1c-4a2b-9c57-0f8a3f1f7a10',
    required: true,
  },
  'RateLimit-Policy': {
    description: 'Allowed requests (`q`) per window in seconds (`w`). Absent for plans without a rate limit.',
    schema: z.string(),
    example: '"per-minute";q=40;w=60',
  },
  RateLimit: {
    description: 'Remaining requests (`r`) and seconds until the limit allows more (`t`).',
    schema: z.string(),
    example: '"per-minute";r=37;t=12',
  },
  'X-RateLimit-Limit': { description: 'Allowed create requests per minute.', schema: whole, example: 40 },
  'X-RateLimit-Remaining': { description: 'Remaining create requests.', schema: whole, example: 37 },
  'X-RateLimit-Reset': { description: 'Unix time in seconds at which the limit allows more.', schema: whole, example: 1_795_255_212 },
  'X-Quota-Limit': { description: 'Screenshots per month.', schema: whole, example: 2000 },
  'X-Quota-Remaining': { description: 'Remaining screenshots this month.', schema: whole, example: 1766 },
  'X-Quota-Reset': { description: 'Unix time in seconds at which the next month (UTC) begins.', schema: whole, example: 1_796_083_200 },
  'Retry-After': { description: 'Seconds after which to retry.', schema: whole, example: 2 },
  'X-Queue-Position': {
    description: 'Position in the queue, under weighted fair queueing between accounts. 1 is next.',
    schema: z.int().min(1),
    example: 12,
  },
  Location: {
    description: 'URL of the record.',
    schema: z.string().max(2048),
    example: '/api/v1/screenshots/scr_7yztsh6vzw7j4q0n9x2c5d8e1f',
  },
  ETag: { description: 'Version of the record, for If-None-Match and If-Match.', schema: z.string(), example: '"48213-1795341600"' },
  'Cache-Control': { description: 'Whether the response may be cached.', schema: z.string(), example: 'private, no-cache' },
  Age: { description: 'Seconds since the picture was captured.', schema: whole, example: 3600 },
  'Idempotent-Replayed': {
    description: '`true` for the response to a repeated request with this Idempotency-Key.',
    schema: z.literal('true'),
    example: 'true',
  },
  'X-Ignored-Options': {
    description: 'Unknown names that `Prefer: handling=lenient` dropped.',
    schema: z.string(),
    example: 'options.fullpage',
  },
  'WWW-Authenticate': {
    description: 'Authentication scheme and the missing scope (RFC 6750).',
    schema: z.string(),
    example: 'Bearer realm="api", error="invalid_token"',
  },
  'Last-Modified': { description: 'Time at which the file was stored.', schema: z.string(), example: 'Sat, 21 Nov 2026 10:00:03 GMT' },
  'Content-Length': { description: 'Size of this response in bytes.', schema: whole, example: 48_213 },
  'X-Content-Type-Options': { description: 'Tells browsers not to guess the type.', schema: z.literal('nosniff'), example: 'nosniff' },
  'Content-Security-Policy': {
    description: 'Prevents scripts in the file from running.',
    schema: z.string(),
    example: "sandbox; default-src 'none'",
  },
  'Cross-Origin-Resource-Policy': {
    description: 'Allows pages of other origins to show the file.',
    schema: z.literal('cross-origin'),
    example: 'cross-origin',
  },
  'Content-Disposition': { description: 'Name of the file.', schema: z.string(), example: 'inline; filename="shot.png"' },
  'Content-Range': { description: 'Range of this response.', schema: z.string(), example: 'bytes 0-1023/48213' },
  'Accept-Ranges': { description: 'The server supports range requests.', schema: z.literal('bytes'), example: 'bytes' },
  'X-Should-Retry': { description: '`false` when a retry within seconds would fail too.', schema: z.literal('false'), example: 'false' },
} as const satisfies Record<string, Header>

export type HeaderName = keyof typeof HEADERS

/** On every response. */
export const COMMON_HEADERS: readonly HeaderName[] = ['X-Request-Id']

/** On every authenticated response. */
export const LIMIT_HEADERS: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Quota-Limit',
  'X-Quota-Remaining',
  'X-Quota-Reset',
]
