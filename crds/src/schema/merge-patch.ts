// JSON Merge Patch (RFC 7396): null removes a field, an object is merged, and every other value replaces the earlier one.

type Fields = Record<string, unknown>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value after a patch. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Fields = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = applyMergePatch(merged[name], value)
  }
  return merged
}

/** The smallest patch that makes one object of the other. Undefined fields count as absent. */
export function toMergePatch(before: Readonly<Fields>, after: Readonly<Fields>): Fields {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return Object.fromEntries([...names].flatMap((name) => toChange(name, before[name], after[name])))
}

/** The patch that replaces the objects in its fields instead of merging them: what an object had before and lacks now is removed. */
export const replaceObjects = (before: Readonly<Fields>, patch: Readonly<Fields>): Fields =>
  Object.fromEntries(
    Object.entries(patch).map(([name, value]) => {
      const old = before[name]
      return [name, isObject(old) && isObject(value) ? toMergePatch(old, value) : value]
    }),
  )

function toChange(name: string, old: unknown, next: unknown): [name: string, value: unknown][] {
  if (JSON.stringify(old) === JSON.stringify(next)) return []
  return [[name, isObject(old) && isObject(next) ? toMergePatch(old, next) : (next ?? null)]]
}
