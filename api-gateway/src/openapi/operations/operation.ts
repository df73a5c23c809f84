import type { HttpErrorCode } from '@tintype/crds/errors'
import type { Scope } from '@tintype/crds/kinds/api-key'
import type { z } from 'zod'
import type { HeaderName } from './headers.ts'

// The table of operations: what is documented of each route. Routes read their requests by hand, for exact messages; a test holds that
// every route is here, with the same scope, and that nothing else is.

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description: string
  schema: z.ZodType
  example?: unknown
  required?: boolean
  /** False: a list is one text with commas. */
  explode?: false
}

/** A link from a response to another operation. */
export interface Link {
  operationId: string
  description: string
  parameters: Readonly<Record<string, string>>
}

export interface ResponseSpec {
  description: string
  /** A named schema of the JSON that is sent; absent: an empty body, unless `files`. */
  schema?: z.ZodType
  example?: unknown
  /** The file of a capture may be the response, instead of JSON or beside it; `every`: or one of its artifacts. */
  files?: 'capture' | 'every'
  headers?: readonly HeaderName[]
  links?: Readonly<Record<string, Link>>
}

export interface Body {
  schema: z.ZodType
  examples: Readonly<Record<string, { summary: string; value: unknown }>>
  /** False: the body may be left out. */
  required?: boolean
}

export type Tag = 'Screenshots' | 'Batches' | 'Devices' | 'Webhooks' | 'API keys' | 'Usage' | 'Service' | 'Files'

export interface Operation {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As the document writes it, below `/api/v1`. */
  path: `/${string}`
  /** The path is not below `/api/v1`. */
  isOutsideApi?: true
  tag: Tag
  /** What the key must be allowed to do; absent: public. */
  scope?: Scope
  summary: string
  description?: string
  parameters?: readonly Parameter[]
  body?: Body
  responses: Readonly<Record<number, ResponseSpec>>
  /** Codes of its own, beside those that every operation of its kind can answer. */
  errors?: readonly HttpErrorCode[]
  /** Takes an Idempotency-Key. */
  isKeyed?: true
}
