/** Enough for what objects of one kind repeat within a page of a list. */
const MAX_STRINGS = 4_096
/** Longer texts are rarely the same. */
const MAX_LENGTH = 256
/** The engine stores shorter strings of JSON only once. */
const MIN_LENGTH = 11

const recent = new Map<string, string>()

/**
 * Replaces the strings of a parsed object by equal ones of recent objects, so that each is in memory only once. Objects of one kind repeat
 * most of theirs, such as URLs, times and messages of conditions. Changes the object, which must be a tree.
 */
export function shareStrings<T extends object>(object: T): T {
  const fields = object as Record<string, unknown>
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (typeof value === 'string') fields[name] = share(value)
    else if (typeof value === 'object' && value !== null) shareStrings(value)
  }
  return object
}

function share(text: string): string {
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH) return text
  const known = recent.get(text)
  if (known !== undefined) return known
  if (recent.size === MAX_STRINGS) recent.clear()
  recent.set(text, text)
  return text
}
