// What a cache keeps of an object, so that large objects do not fill the process. Options above 8 KiB, such as a page in `html`, are left out. So are
// managedFields, and annotations of other programs: kubectl keeps a copy of the object in one.

import { MAX_INLINE_BYTES } from '../src/options/private.ts'
import type { Whole } from '../src/schema/custom-resource.ts'
import { CUT, toBeginning } from '../src/text/cut-text.ts'
import type { KubeObject } from './kube-object.ts'

type Options = Record<string, unknown>
type Captured = { options?: Options; capturePolicy?: object }
type WithOptions = KubeObject & { spec?: Captured & { template?: Captured } }

const OWN_ANNOTATION = /^([\w-]+\.)*tintype\.dev\//

/** What a cache keeps of an object. `metadata.leftOut` has the beginnings of the options that it leaves out. */
export function toCached<T extends KubeObject>(given: T): T {
  const object = withSharedPolicy(given)
  const { managedFields, annotations = {}, ...metadata } = object.metadata
  const entries = Object.entries(annotations)
  const own = entries.filter(([name, value]) => OWN_ANNOTATION.test(name) && !isLarge(value))
  const options = Object.entries(optionsOf(object) ?? {})
  const left = options.filter(([, value]) => isLarge(value))
  if (managedFields === undefined && own.length === entries.length && left.length === 0) return object
  const leftOut = Object.fromEntries(left.map(([name, value]) => [name, typeof value === 'string' ? toBeginning(value) : CUT]))
  const kept = {
    ...object,
    metadata: {
      ...metadata,
      ...(own.length > 0 ? { annotations: Object.fromEntries(own) } : {}),
      ...(left.length > 0 ? { leftOut } : {}),
    },
  }
  return left.length > 0 ? withOptions(kept, Object.fromEntries(options.filter(([name]) => !(name in leftOut)))) : kept
}

/** Policies of recent objects by their text. */
const policies = new Map<string, object>()
/** A policy has up to 4 KiB of text, and needs twice as much in memory. */
const MAX_POLICIES = 1_024

/** The captures of a key repeat its capture policy. Equal ones of recent objects become one object, so that each is in memory only once. */
function withSharedPolicy<T extends KubeObject>(object: T): T {
  const { spec } = object as WithOptions
  const policy = (spec?.template ?? spec)?.capturePolicy
  if (!policy) return object
  const capturePolicy = share(policy)
  if (capturePolicy === policy) return object
  return { ...object, spec: spec?.template ? { ...spec, template: { ...spec.template, capturePolicy } } : { ...spec, capturePolicy } }
}

function share(policy: object): object {
  const text = JSON.stringify(policy)
  const known = policies.get(text)
  if (known) return known
  if (policies.size === MAX_POLICIES) policies.clear()
  policies.set(text, policy)
  return policy
}

/** An object of a cache with the options of the same object as the API server has it. */
export function toWhole<T extends KubeObject>(cached: T, stored: T): Whole<T> {
  const { leftOut: _, ...metadata } = cached.metadata
  return { ...withOptions(cached, optionsOf(stored)), metadata } as Whole<T>
}

const isLarge = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.length > MAX_INLINE_BYTES || Buffer.byteLength(value) > MAX_INLINE_BYTES
    : typeof value === 'object' && Buffer.byteLength(JSON.stringify(value)) > MAX_INLINE_BYTES

/** The options of a Screenshot, or of the Screenshots of a schedule. */
function optionsOf({ spec }: WithOptions): Options | undefined {
  return spec?.template ? spec.template.options : spec?.options
}

function withOptions<T extends WithOptions>(object: T, options: Options | undefined): T {
  const { spec } = object
  return { ...object, spec: spec?.template ? { ...spec, template: { ...spec.template, options } } : { ...spec, options } }
}
