/** `viewportWidth` → `viewport_width`. */
export const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `viewport_width` → `viewportWidth`. */
export const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Renames the keys of an object, but not of nested objects, because the keys of maps such as headers are data. */
export const renameKeys = (object: object, rename: (name: string) => string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [rename(name), value]))

/** `1 field`, `3 fields`. The plural has an s. */
export const counted = (count: number | bigint, noun: string): string => `${count} ${noun}${Number(count) === 1 ? '' : 's'}`

const MAX_LENGTH = 64

/** Damerau-Levenshtein distance of two words. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      const steps = [rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + change]
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps.push(rows[i - 2]![j - 2]! + 1)
      row.push(Math.min(...steps))
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}

/** Normalizes a name: lower case, without dashes and underscores. */
export const toPlainName = (name: string): string =>
  name
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')

const plainNames = new WeakMap<readonly string[], readonly string[]>()

/** The normalized names of a list, computed once for each list: requests are compared with the same few. */
export function toPlainNames(known: readonly string[]): readonly string[] {
  const found = plainNames.get(known) ?? known.map(toPlainName)
  plainNames.set(known, found)
  return found
}

/** The closest known name, or undefined when none is close. Ignores case, dashes and underscores. */
export function findNearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = toPlainName(name)
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  const [nearest] = toPlainNames(known)
    .map((plain, index) => ({ plain, index }))
    // Each step changes the length by one at most.
    .filter(({ plain }) => Math.abs(plain.length - wanted.length) <= limit)
    .map(({ plain, index }) => ({ index, steps: distance(wanted, plain) }))
    .filter(({ steps }) => steps <= limit)
    .sort((a, b) => a.steps - b.steps)
  return nearest && known[nearest.index]
}
