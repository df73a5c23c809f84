import { z } from 'zod'

/** A column of `kubectl get`; `priority: 1` shows only with `-o wide`. */
export interface PrintColumn {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'date'
  jsonPath: string
  priority?: number
  description?: string
}

/** A CEL rule that the API server checks. `message` says how to fix a violation. */
export interface CelRule {
  rule: string
  message?: string
  messageExpression?: string
}

/** The parts of a CustomResourceDefinition that differ between kinds. */
export interface Definition {
  kind: string
  plural: string
  singular: string
  shortNames: string[]
  description: string
  columns: PrintColumn[]
  spec: z.ZodType
  status: z.ZodType
  specRules?: CelRule[]
  /** Rules on the root. They also apply to the status subresource, and can read `oldSelf`. */
  rules?: CelRule[]
  /** Default of the whole status, so that a new object has a phase without a write. */
  statusDefault?: unknown
  selectableFields?: string[]
  /**
   * Makes spec and status atomic, so that managedFields records one owner for each instead of one per field. For kinds that every capture writes:
   * per-field ownership was half of a Screenshot's size and a third of the cost of its writes.
   */
  isWrittenWhole?: boolean
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath: string }
}

/** The part of metadata that the programs read. Other fields are preserved. */
export const Metadata = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.number().optional(),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
})
export type Metadata = z.infer<typeof Metadata>

/** The name of an account or pool: a DNS label. */
export const objectName = (what: string) =>
  z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe(what)

/** A time in ISO 8601 with a zone. */
export const instant = (what: string) => z.string().max(40).meta({ format: 'date-time' }).describe(what)
