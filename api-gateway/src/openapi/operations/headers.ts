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
    description: 'Id of the request: the client’s own, or a new one. Quote it in bug reports.',
    schema: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
    example: '3f6c1d0e-8d1c-4a2b-9c57-0f8a3f1f7a10',
    required: true,
  },
  'RateLimit-Policy': {
    description: 'Requests (`q`) in a window of so many seconds (`w`). Absent on plans without a bound.',
    schema: z.string(),
    example: '"per-minute";q=40;w=60',
  },
  RateLimit: {
    description: 'Requests that are left (`r`) and seconds until more are (`t`).',
    schema: z.string(),
    example: '"per-minute";r=37;t=12',
  },
  'X-RateLimit-Limit': { description: 'Creating requests a minute.', schema: whole, example: 40 },
  'X-RateLimit-Remaining': { description: 'Creating requests that fit now.', schema: whole, example: 37 },
  'X-RateLimit-Reset': { description: 'Unix time in seconds at which more fit.', schema: whole, example: 1_795_255_212 },
  'X-Quota-Limit': { description: 'Screenshots a month.', schema: whole, example: 2000 },
  'X-Quota-Remaining': { description: 'Screenshots that are left this month.', schema: whole, example: 1766 },
  'X-Quota-Reset': { description: 'Unix time in seconds at which the next month begins (UTC).', schema: whole, example: 1_796_083_200 },
  'Retry-After': { description: 'Seconds after which to ask again.', schema: whole, example: 2 },
  'X-Queue-Position': {
    description: 'Queue position of a screenshot under weighted fair queueing between accounts. 1 is the next.',
    schema: z.int().min(1),
    example: 12,
  },
  Location: {
    description: 'Where the record is read.',
    schema: z.string().max(2048),
    example: '/api/v1/screenshots/scr_7yztsh6vzw7j4q0n9x2c5d8e1f',
  },
  ETag: { description: 'Version of the record, for If-None-Match and If-Match.', schema: z.string(), example: '"48213-1795341600"' },
  'Cache-Control': { description: 'Whether the response may be cached.', schema: z.string(), example: 'private, no-cache' },
  'Idempotent-Replayed': {
    description: '`true` when an earlier request with this key did the work.',
    schema: z.literal('true'),
    example: 'true',
  },
  'X-Ignored-Options': {
    description: 'Names that `Prefer: handling=lenient` left out.',
    schema: z.string(),
    example: 'options.fullpage',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate, and what the key lacks (RFC 6750).',
    schema: z.string(),
    example: 'Bearer realm="api", error="invalid_token"',
  },
  'Last-Modified': { description: 'When the file was stored.', schema: z.string(), example: 'Sat, 21 Nov 2026 10:00:03 GMT' },
  'Content-Length': { description: 'Bytes of this response.', schema: whole, example: 48_213 },
  'X-Content-Type-Options': { description: 'The browser must not guess the type.', schema: z.literal('nosniff'), example: 'nosniff' },
  'Content-Security-Policy': {
    description: 'Nothing in the file may run.',
    schema: z.string(),
    example: "sandbox; default-src 'none'",
  },
  'Content-Disposition': { description: 'Name of the file.', schema: z.string(), example: 'inline; filename="shot.png"' },
  'Content-Range': { description: 'Which bytes these are.', schema: z.string(), example: 'bytes 0-1023/48213' },
  'Accept-Ranges': { description: 'Parts of the file can be asked for.', schema: z.literal('bytes'), example: 'bytes' },
  'X-Should-Retry': { description: '`false`: waiting some seconds does not help.', schema: z.literal('false'), example: 'false' },
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
