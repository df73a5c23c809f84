import { isDeepStrictEqual } from 'node:util'
import type { JsonPatchOperation, Patch } from '../../../crds/client/resource.ts'
import { applyMergePatch } from '../../../crds/src/schema/merge-patch.ts'

type Fields = Record<string, unknown>

/** A patch that does not apply, such as one with a failed `test`. */
export class UnappliedPatch extends Error {}

/** Applies a patch as the API server does. Returns another object. @throws UnappliedPatch */
export function patchObject<T extends object>(object: T, { contentType, body }: Pick<Patch, 'contentType' | 'body'>): T {
  if (contentType === 'application/merge-patch+json') return applyMergePatch(object, body) as T
  const copy = structuredClone(object)
  for (const operation of body as JsonPatchOperation[]) applyOperation(copy as Fields, operation)
  return copy
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** RFC 6902, except that the API server's `test` with null also passes where there is nothing. */
function applyOperation(object: Fields, operation: JsonPatchOperation): void {
  const segments = operation.path.split('/').slice(1).map(toName)
  const name = segments.pop() ?? ''
  const parent = segments.reduce<unknown>((value, segment) => (isFields(value) ? value[segment] : undefined), object)
  const found = isFields(parent) ? parent[name] : undefined
  if (operation.op === 'test') {
    if (!isDeepStrictEqual(found ?? null, operation.value)) throw new UnappliedPatch(`test ${operation.path} failed`)
    return
  }
  if (!isFields(parent)) throw new UnappliedPatch(`${operation.path} has no parent`)
  if (operation.op !== 'add' && !(name in parent)) throw new UnappliedPatch(`${operation.path} does not exist`)
  if (operation.op === 'remove') delete parent[name]
  else if (operation.op === 'add' || operation.op === 'replace') parent[name] = structuredClone(operation.value)
  else throw new Error(`${operation.op} is not supported`)
}

const toName = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~')
