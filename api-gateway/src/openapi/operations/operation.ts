import type { Scope } from '@tintype/crds/kinds/api-key'
import type { HttpErrorCode } from '@tintype/crds/schema/errors'
import type { z } from 'zod'
import type { HeaderName } from './headers.ts'

// Types of the table of operations, which documents every route. The routes parse requests themselves for exact error messages. A test checks that
// the table has every route with the same scope, and no others.

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

/** A link from a response to another operation. */
export interface Link {
  operationId: string
  description: string
  parameters: Readonly<Record<string, string>>
}

export interface ResponseSpec {
  description: string
  /** Named schema of the JSON body. Absent for an empty body or `files`. */
  schema?: z.ZodType
  example?: unknown
  /** The response can be the file of a capture, or with `every` also an artifact. */
  files?: 'capture' | 'every'
  headers?: readonly HeaderName[]
  links?: Readonly<Record<string, Link>>
}

export interface Body {
  schema: z.ZodType
  examples: Readonly<Record<string, { summary: string; value: unknown }>>
  /** False when the body is optional. */
  required?: boolean
}

export type Tag = 'Screenshots' | 'Batches' | 'Devices' | 'Webhooks' | 'API keys' | 'Usage' | 'Service' | 'Files'

export interface Operation {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Path below `/api/v1`. */
  path: `/${string}`
  /** True when the path is not below `/api/v1`. */
  isOutsideApi?: true
  tag: Tag
  /** Scope that the key needs. Absent for public operations. */
  scope?: Scope
  summary: string
  description?: string
  parameters?: readonly Parameter[]
  body?: Body
  responses: Readonly<Record<number, ResponseSpec>>
  /** Error codes of this operation, in addition to the common ones. */
  errors?: readonly HttpErrorCode[]
  /** Accepts an Idempotency-Key. */
  isKeyed?: true
}
