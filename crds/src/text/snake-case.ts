/** `viewportWidth` → `viewport_width`. */
export const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `viewport_width` → `viewportWidth`. */
export const toCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Renames the keys of an object, but not of nested objects, because the keys of maps such as headers are data. */
export const renameKeys = (object: object, rename: (name: string) => string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [rename(name), value]))
