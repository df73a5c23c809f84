import { z } from 'zod'
import { VISIBLE_IN_RE2 } from '../text/visible.ts'

/** A column of `kubectl get`; `priority: 1` shows only with `-o wide`. */
interface PrintColumn {
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
  /** True: `oldSelf` is an optional value, and the rule also applies to the creation of an object. */
  optionalOldSelf?: boolean
}

/** Limits on the names of a kind beyond those of Kubernetes. */
interface NameLimits {
  /** Maximum characters. */
  maxLength: number
  /** True for a DNS label, which has no dots. */
  isLabel?: boolean
}

/** The parts of a CustomResourceDefinition that differ between kinds. */
export interface Definition {
  kind: string
  plural: string
  singular: string
  shortNames: string[]
  description: string
  /** Absent: all names that Kubernetes allows. */
  names?: NameLimits
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
  /** Only in objects of a cache: the beginnings of the options that it leaves out, by name. */
  leftOut: z.record(z.string(), z.string()).optional(),
})
export type Metadata = z.infer<typeof Metadata>

/** True once its deletion was requested. While it has finalizers, the object remains in the API server, and must not act any more. */
export const isBeingDeleted = ({ metadata }: { metadata: { deletionTimestamp?: string | undefined } }): boolean =>
  metadata.deletionTimestamp !== undefined

interface Stored {
  metadata: { leftOut?: Metadata['leftOut'] }
}

/** An object from which nothing is left out. Code that needs every option takes this type. */
export type Whole<T extends Stored> = T & { metadata: { leftOut?: undefined } }

/** False for an object of a cache without its large options. */
export const isWhole = <T extends Stored>(object: T): object is Whole<T> => object.metadata.leftOut === undefined

/** Maximum characters of an object's name. */
export const MAX_OBJECT_NAME_LENGTH = 253
/** Maximum characters of a DNS label, and of the value of a label. */
export const MAX_LABEL_LENGTH = 63

/** The name of an account or pool: a DNS label. */
export const objectName = (what: string) =>
  z
    .string()
    .max(MAX_LABEL_LENGTH)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe(what)

/** The name of any object: a DNS subdomain. */
export const subdomainName = (what: string) =>
  z
    .string()
    .max(MAX_OBJECT_NAME_LENGTH)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
    .describe(what)

/** Message about a name that shows nothing. It continues the name of a field. */
export const INVISIBLE_NAME = 'must contain a visible character: use a name of 1 to 100 characters that people can read'

/** A name for people. The programs read existing objects with invisible names, so only the API server and REST refuse these. */
export const displayName = (what: string) =>
  z
    .string()
    .min(1)
    .max(100)
    .meta({ 'x-kubernetes-validations': [{ rule: `self.matches(r'${VISIBLE_IN_RE2}')`, message: `name ${INVISIBLE_NAME}` }] })
    .describe(what)

/** A time in ISO 8601 with a zone. */
export const instant = (what: string) => z.string().max(40).meta({ format: 'date-time' }).describe(what)

// Names of objects. Kubernetes allows at most 253 lower-case letters, digits, `-` and `.`. Some kinds allow less, because other names are derived
// from the name. docs/gitops.md lists the limits with their reasons.

interface Named {
  kind: string
  names?: NameLimits
}

const ofKind = (kind: string): string => `the name of ${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`

const limitsOf = ({ kind, names }: Named): { rule: string; message: string; holds: (name: string) => boolean }[] => {
  if (!names) return []
  const { maxLength, isLabel = false } = names
  return [
    {
      rule: `self.metadata.name.size() <= ${maxLength}`,
      message: `${ofKind(kind)} must be at most ${maxLength} characters: use a shorter name`,
      holds: (name) => name.length <= maxLength,
    },
    ...(isLabel
      ? [
          {
            rule: '!self.metadata.name.contains(".")',
            message: `${ofKind(kind)} must not contain dots: use lower-case letters, digits and -`,
            holds: (name: string) => !name.includes('.'),
          },
        ]
      : []),
  ]
}

/**
 * Rules on the root of a kind. They refuse only the creation of an object: one that exists must stay writable, or nobody could remove its
 * finalizers or write its status.
 */
export const nameRules = (definition: Named): CelRule[] =>
  limitsOf(definition).map(({ rule, message }) => ({ rule: `oldSelf.hasValue() || ${rule}`, optionalOldSelf: true, message }))

/** What is wrong with the name of an object that was created before the rules; undefined: nothing. */
export const findNameProblem = (definition: Named, name: string): string | undefined =>
  limitsOf(definition).find(({ holds }) => !holds(name))?.message
