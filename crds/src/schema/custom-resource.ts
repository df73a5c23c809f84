import { z } from 'zod'

/** A column of `kubectl get`; `priority: 1` shows only with `-o wide`. */
export interface PrintColumn {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'date'
  jsonPath: string
  priority?: number
  description?: string
}

/** A rule in CEL that the API server checks; `message` says what to do. */
export interface CelRule {
  rule: string
  message?: string
  messageExpression?: string
}

/** All that a CustomResourceDefinition says about a kind. */
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
  /** Rules on the root, which also hold on the status subresource and see `oldSelf`. */
  rules?: CelRule[]
  /** Default of the whole status, so that a new object shows and selects a phase without a write. */
  statusDefault?: unknown
  selectableFields?: string[]
  /**
   * Spec and status are one value each to who keeps account of fields (managedFields): the API server notes who wrote them, and not who wrote
   * each of their fields. For kinds that are written for every capture: half of a Screenshot was such notes, and a third of what its writes cost.
   */
  isWrittenWhole?: boolean
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath: string }
}

/** The part of metadata that the programs read; whatever else there is stays where it is. */
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

/** An instant in ISO 8601 with a zone. */
export const instant = (what: string) => z.string().max(40).meta({ format: 'date-time' }).describe(what)
