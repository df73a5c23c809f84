import { anId } from '@tintype/crds/schema/fields'
import { z } from 'zod'

// Path and header parameters that several routes have.

/** A path or header parameter, or a query parameter that the handler itself checks. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description: string
  schema: z.ZodType
  example?: unknown
  required?: boolean
  /** False for lists that are separated by commas. */
  explode?: false
}

/** The path parameter `{id}`. */
export const pathId = (prefix: 'scr' | 'wh' | 'key' | 'sch' | 'batch', example: string): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description: 'Id of the record.',
  schema: anId(prefix, `An id with the prefix ${prefix}_.`),
  example,
})

/** Documented for every route with a body. */
export const prefer: Parameter = {
  name: 'Prefer',
  in: 'header',
  description: '`handling=lenient` drops unknown fields instead of rejecting them, and lists them in X-Ignored-Options (RFC 7240).',
  schema: z.string(),
  example: 'handling=lenient',
}

/** Documented for every route with `isKeyed`. */
export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A request with the same key and body within 24 hours gets the first response again. Nothing is created or charged twice.',
  schema: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[ -~]+$/),
  example: 'order-1042',
}

export const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'ETag of the version that the client has. The response is 304 if it has not changed.',
  schema: z.string(),
  example: '"48213-1795341600"',
}

export const ifModifiedSince: Parameter = {
  name: 'If-Modified-Since',
  in: 'header',
  description: 'HTTP date. The response is 304 if the file has not changed since. Ignored with If-None-Match.',
  schema: z.string(),
  example: 'Sat, 21 Nov 2026 10:20:30 GMT',
}

export const ifMatch: Parameter = {
  name: 'If-Match',
  in: 'header',
  description: 'ETag of the version to change. The response is 412 if it has changed.',
  schema: z.string(),
  example: '"48213-1795341600"',
}
