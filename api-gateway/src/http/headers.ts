import type { FastifyReply } from 'fastify'
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

/** Of authenticated responses, unless the handler sets another: a client asks each time whether its copy is current. */
export const NO_CACHE = { 'cache-control': 'private, no-cache' }
/** Of responses with a secret. */
export const NO_STORE = { 'cache-control': 'private, no-store' }

const MAX_LISTED_NAMES = 32
const MAX_NAME_LENGTH = 64

/** Lists the unknown names that a request with `Prefer: handling=lenient` contained. */
export function setIgnoredOptionsHeader(reply: FastifyReply, ignored: readonly string[]): void {
  if (ignored.length === 0) return
  // The names come from the request, so only characters that a header may contain are sent back.
  const names = ignored.map((name) => name.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, MAX_NAME_LENGTH)).slice(0, MAX_LISTED_NAMES)
  reply.headers({ 'preference-applied': 'handling=lenient', 'x-ignored-options': names.join(', ') })
}

/** Marks the response to a repeated request with the same Idempotency-Key. */
export const setReplayedHeader = (reply: FastifyReply, { isRepeated }: { isRepeated: boolean }): FastifyReply =>
  isRepeated ? reply.header('idempotent-replayed', 'true') : reply

/** Sends the queue position of a screenshot that is still queued. */
export const setQueuePositionHeader = (reply: FastifyReply, position: number | undefined): FastifyReply =>
  position === undefined ? reply : reply.header('x-queue-position', String(position))

interface MediaRange {
  type: string
  quality: number
}

const parseRanges = (accept: string): MediaRange[] =>
  accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return { type, quality: Number.isNaN(quality) ? 0 : quality }
  })

/** What asks for a file, whether or not a capture has such a format. */
const FILE_TYPE = /^((image|video|audio)\/[a-z0-9*.+-]+|application\/(pdf|octet-stream))$/
/** These stand for the file in any format, also for a PDF. */
const ANY_FILE = new Set(['image/*', 'video/*', 'application/octet-stream'])
const ANYTHING = new Set(['*/*', '*'])

/** The best quality of the types in an Accept header that are wanted. 0: it names none. */
const qualityOf = (accept: string, isWanted: (type: string) => boolean): number =>
  Math.max(0, ...parseRanges(accept).map(({ type, quality }) => (isWanted(type) ? quality : 0)))

const isJson = (type: string): boolean => type === 'application/json'

/** Matches of media ranges, the most specific first. The first of them that a header has gives the quality (RFC 9110, 12.5.1). */
type Specificity = readonly ((type: string) => boolean)[]

const isAnything = (type: string): boolean => ANYTHING.has(type)
const RECORD: Specificity = [isJson, (type) => /[/+]json$/.test(type), (type) => type === 'application/*', isAnything]
const fileOf = (contentType: string): Specificity => [(type) => type === contentType, (type) => ANY_FILE.has(type), isAnything]

/** The quality that an Accept header gives a body. 0: it does not accept it. */
function acceptedQuality(accept: string, specificity: Specificity): number {
  const ranges = parseRanges(accept)
  const matches = specificity.map((isMatch) => ranges.filter(({ type }) => isMatch(type))).find(({ length }) => length > 0)
  return Math.max(0, ...(matches ?? []).map(({ quality }) => quality))
}

/**
 * The body that an Accept header asks for, given the MIME type of the file: the one with the higher quality. If they are equal, as with a range for any
 * type, the record, unless the header names a type of files that it prefers over JSON. Undefined: the header accepts neither.
 */
export function preferredBody(accept: string | undefined, contentType: string): 'file' | 'record' | undefined {
  if (accept === undefined || accept.trim() === '') return 'record'
  const [file, record] = [acceptedQuality(accept, fileOf(contentType)), acceptedQuality(accept, RECORD)]
  if (file === 0 && record === 0) return undefined
  const namesFile = qualityOf(accept, (type) => FILE_TYPE.test(type)) > qualityOf(accept, isJson)
  return file > record || (file === record && namesFile) ? 'file' : 'record'
}

/** True when the Accept header prefers HTML over JSON, as that of browsers does. A range for any type does not count. */
export const prefersHtml = (accept = ''): boolean => qualityOf(accept, (type) => type === 'text/html') > qualityOf(accept, isJson)

/** True when the request says `Prefer: handling=lenient` (RFC 7240). Unknown names are then dropped and listed instead of rejected. */
export const isLenient = (prefer: string | string[] | undefined): boolean =>
  [prefer ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((preference) => /^\s*handling\s*=\s*"?lenient"?\s*(;|$)/i.test(preference))

// Dates in HTTP headers (RFC 9110, section 5.6.7).

const TIME = String.raw`\d{2}:\d{2}:\d{2}`
const CURRENT = new RegExp(String.raw`^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} ${TIME} GMT$`)
const RFC_850 = new RegExp(String.raw`^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} ${TIME} GMT$`)
/** Without a zone, but always UTC. */
const ASCTIME = new RegExp(String.raw`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d ${TIME} \d{4}$`)

/** Parses a date in the current format or one of the two old formats. Returns undefined for other texts. */
export function parseHttpDate(text: string): Date | undefined {
  const given = text.trim()
  if (!CURRENT.test(given) && !RFC_850.test(given) && !ASCTIME.test(given)) return undefined
  const date = new Date(ASCTIME.test(given) ? `${given} GMT` : given)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** True if an object has not changed since the date of an If-Modified-Since header. HTTP dates have no fractions of a second. */
export function isUnchangedSince(lastModified: Date, header: string | undefined): boolean {
  const since = header === undefined ? undefined : parseHttpDate(header)
  return since !== undefined && Math.floor(lastModified.getTime() / 1_000) * 1_000 <= since.getTime()
}

/** The entity tag of a screenshot record: its resourceVersion and the expiry of its link, which changes every hour while the object does not. */
export const recordTag = (resourceVersion: string, linkExpires: number | undefined): string =>
  linkExpires === undefined ? `"${resourceVersion}"` : `"${resourceVersion}-${linkExpires.toString(36)}"`

/**
 * The entity tag of a key or webhook. The first half is the generation, which changes with the spec only. The second half also changes with
 * counters and conditions, so that a 304 is correct.
 */
export const versionTag = ({ generation = 0, resourceVersion }: { generation?: number | undefined; resourceVersion: string }): string =>
  `"${generation}-${resourceVersion}"`

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/**
 * True when If-Match has the same generation. A changed counter is not a conflict. Weak tags count too: a proxy that compresses a response, such as
 * Envoy or nginx, makes its tag weak, and the client sends it back.
 */
export function hasVersion(header: string, tag: string): boolean {
  const versionOf = (text: string): string | undefined => /^"(\d+)-\d+"$/.exec(opaque(text))?.[1]
  return (
    header.trim() === '*' ||
    header.split(',').some((candidate) => versionOf(candidate) !== undefined && versionOf(candidate) === versionOf(tag))
  )
}

/** True when a header such as `"a", W/"b"` or `*` contains the tag. Weak and strong tags compare as equal (RFC 9110, If-None-Match). */
export const hasTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((candidate) => opaque(candidate) === opaque(tag)))
