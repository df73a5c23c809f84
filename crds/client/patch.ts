/** The body and content type of a patch. */
export type Patch = { contentType: string; body: unknown; query?: Record<string, string> }

/** One step of RFC 6902. */
export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: unknown }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string }

/** Conditions that must hold when the API server applies a patch. */
export type Preconditions = { resourceVersion?: string | undefined; uid?: string | undefined }

/**
 * A merge patch (RFC 7396): `null` removes a field, and arrays are replaced as a whole.
 * With a resourceVersion, the API server responds with 409 if the object has changed. With a uid, it responds with 422 if another object has the
 * name. On a status subresource it ignores the uid: use a resourceVersion, or a JSON patch with a test.
 */
export function mergePatch(body: Record<string, unknown>, preconditions: Preconditions = {}): Patch {
  const contentType = 'application/merge-patch+json'
  const wanted = Object.entries(preconditions).filter(([, value]) => value !== undefined)
  if (wanted.length === 0) return { contentType, body }
  return { contentType, body: { ...body, metadata: { ...(body.metadata as object | undefined), ...Object.fromEntries(wanted) } } }
}

/**
 * A JSON patch with preconditions. `tests` maps JSON pointers to expected values. If one differs, the API server writes nothing and responds
 * with 422 (`isPatchFailed`).
 */
export function jsonPatch(operations: readonly JsonPatchOperation[], tests: Record<string, unknown> = {}): Patch {
  const checks = Object.entries(tests).map(([path, value]): JsonPatchOperation => ({ op: 'test', path, value }))
  return { contentType: 'application/json-patch+json', body: [...checks, ...operations] }
}

/** Builds a JSON pointer (RFC 6901). Escapes the segments, so that `tintype.dev/hash-1` stays one segment. */
export function pointer(...segments: (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
