import type { KubeObject } from './kube-object.ts'

export {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isPatchFailed,
  isTransient,
  isUnreachable,
} from './kube-error.ts'

/** A body and the content type that tells the API server how to read it. */
export type Patch = { contentType: string; body: unknown; query?: Record<string, string> }

/** One step of RFC 6902. */
export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string }

/** What must still be so when the patch arrives. */
export type Preconditions = { resourceVersion?: string | undefined; uid?: string | undefined }

/**
 * A merge patch (RFC 7396): `null` removes a field, arrays are replaced whole.
 * With a resourceVersion the API server answers 409 when the object has moved on, with a uid 422 when another object has taken the name.
 * On a status subresource it does not look at the uid: there a resourceVersion, or a JSON patch with a test, is needed.
 */
export function mergePatch(body: Record<string, unknown>, preconditions: Preconditions = {}): Patch {
  const contentType = 'application/merge-patch+json'
  const wanted = Object.entries(preconditions).filter(([, value]) => value !== undefined)
  if (wanted.length === 0) return { contentType, body }
  return { contentType, body: { ...body, metadata: { ...(body.metadata as object | undefined), ...Object.fromEntries(wanted) } } }
}

/**
 * A JSON patch that first tests what it rests on: if one value differs, nothing is written and the answer is 422 (`isPatchFailed`).
 * `tests` maps JSON pointers to the values expected there.
 */
export function jsonPatch(operations: readonly JsonPatchOperation[], tests: Record<string, unknown> = {}): Patch {
  const checks = Object.entries(tests).map(([path, value]): JsonPatchOperation => ({ op: 'test', path, value }))
  return { contentType: 'application/json-patch+json', body: [...checks, ...operations] }
}

/** A server-side apply of the fields in `object`, owned by `fieldManager`; `force` takes fields over from other managers. */
export function applyPatch(object: KubeObject, { fieldManager, force = true }: { fieldManager: string; force?: boolean }): Patch {
  return { contentType: 'application/apply-patch+yaml', body: object, query: { fieldManager, force: String(force) } }
}

/** A JSON pointer (RFC 6901) from plain segments, so that `tintype.dev/hash-1` stays one segment. */
export function pointer(...segments: (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
