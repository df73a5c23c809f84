import { type KubeObject, keyOf } from '@tintype/crds/client/kube-object'
import { TerminalError } from '../controller/errors.ts'

/** A kind's zod schema, as far as it matters here. */
interface Schema<T> {
  safeParse: (object: unknown) => { success: true; data: T } | { success: false; error: unknown }
}

const read = new WeakMap<KubeObject, unknown>()

/**
 * What the definition of its kind reads in an object of a copy. Those are replaced and never changed, so each is read once, whoever looks at it:
 * a Screenshot is looked at for its capture, its queue and its deliveries.
 * @throws TerminalError InvalidObject
 */
export function readObject<T extends KubeObject>(kind: string, schema: Schema<T>, object: T): T {
  const known = read.get(object)
  if (known) return known as T
  const parsed = schema.safeParse(object)
  if (!parsed.success)
    throw new TerminalError('InvalidObject', `the ${kind} ${keyOf(object)} is not as its definition says`, { cause: parsed.error })
  read.set(object, parsed.data)
  return parsed.data
}
