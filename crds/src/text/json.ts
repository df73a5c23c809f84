/** Parses JSON; undefined if the text is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sorts the fields of objects, so that equal values have equal JSON. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, child]) => [name, canonical(child)]))
}

// Property names with a special meaning for JavaScript objects. JSON may contain them. Schemas drop them silently, and code that copies objects
// could change a prototype.

const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])

/** No schema accepts deeper values, so names in them have no effect. */
const MAX_DEPTH = 64

type Path = (string | number)[]

/** Finds the path of a field with a reserved name; undefined if there is none. Takes a value as JSON.parse returns it. */
export const findReservedName = (value: unknown): Path | undefined => findPath(value, (_value, name) => RESERVED.has(name))

/** Finds the path of a text or of a field whose name has half of a surrogate pair; undefined if there is none. No encoding can store such a text. */
export const findIllFormedText = (value: unknown): Path | undefined =>
  findPath(value, (item, name) => (typeof item === 'string' && !item.isWellFormed()) || !name.isWellFormed())

/** `name` is empty for items of lists and for the value itself. */
type IsFound = (value: unknown, name: string) => boolean

function findPath(value: unknown, isFound: IsFound): Path | undefined {
  if (isFound(value, '')) return []
  return findIn(value, isFound, MAX_DEPTH)?.reverse()
}

/** The path from the inside to the outside. Copies nothing, because bodies can have many values. */
function findIn(value: unknown, isFound: IsFound, depth: number): Path | undefined {
  if (typeof value !== 'object' || value === null || depth === 0) return undefined
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const path = isFound(value[index], '') ? [] : findIn(value[index], isFound, depth - 1)
      if (path) return append(path, index)
    }
    return undefined
  }
  for (const name in value) {
    const item = (value as Record<string, unknown>)[name]
    const path = isFound(item, name) ? [] : findIn(item, isFound, depth - 1)
    if (path) return append(path, name)
  }
  return undefined
}

function append(path: Path, key: string | number): Path {
  path.push(key)
  return path
}
