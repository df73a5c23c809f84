import { type KubeObject, keyOf } from '@tintype/crds/client/kube-object'
import { TerminalError } from '../controller-runtime/errors.ts'

/** The part of a zod schema that is used here. */
interface Schema<T> {
  safeParse: (object: unknown) => { success: true; data: T } | { success: false; error: unknown }
}

const read = new WeakMap<KubeObject, WeakRef<object>>()

/**
 * Parses an object of an informer cache with the schema of its kind. Cached objects are replaced but never changed, and several controllers read
 * the same Screenshot for its capture, its queue and its deliveries. So the result is kept until the next garbage collection. To keep it longer
 * would double the memory of all objects.
 * @throws TerminalError InvalidObject
 */
export function readObject<T extends KubeObject>(kind: string, schema: Schema<T>, object: T): T {
  const known = read.get(object)?.deref()
  if (known) return known as T
  const parsed = schema.safeParse(object)
  if (!parsed.success)
    throw new TerminalError('InvalidObject', `the ${kind} ${keyOf(object)} does not match its schema`, { cause: parsed.error })
  read.set(object, new WeakRef(parsed.data))
  return parsed.data
}
