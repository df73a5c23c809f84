// Property names with a special meaning for JavaScript objects. JSON may contain them. Schemas drop them silently, and code that copies objects
// could change a prototype.

const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])

/** Quick check: false if a JSON text cannot contain a reserved name. */
export const mayHoldReservedName = (text: string): boolean => /__proto__|constructor|prototype|\\u/.test(text)

interface Place {
  value: unknown
  /** Property name or index in the parent. */
  key?: string | number
  parent?: Place
}

/** Finds the path of a field with a reserved name; undefined if there is none. Works without recursion, for values of any depth. */
export function findReservedName(value: unknown): (string | number)[] | undefined {
  const places: Place[] = [{ value }]
  for (let place = places.pop(); place; place = places.pop()) {
    const parent = place
    if (typeof parent.value !== 'object' || parent.value === null) continue
    const entries: [string | number, unknown][] = Array.isArray(parent.value)
      ? parent.value.map((item, index) => [index, item])
      : Object.entries(parent.value)
    const reserved = Array.isArray(parent.value) ? undefined : entries.find(([name]) => RESERVED.has(String(name)))
    if (reserved) return pathOf({ value: undefined, key: reserved[0], parent })
    for (const [key, item] of entries.toReversed()) if (typeof item === 'object') places.push({ value: item, key, parent })
  }
  return undefined
}

function pathOf(place: Place): (string | number)[] {
  const path: (string | number)[] = []
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) path.push(at.key)
  return path.reverse()
}
