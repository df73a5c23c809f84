import { parseJson } from '../text/parse-json.ts'

/** Four times the depth of the JSON that Tintype writes, and a tenth of the depth that recursive code can handle. */
const MAX_DEPTH = 64

/** Parses a JSON text from the bucket. Returns undefined for invalid JSON, JSON that is nested too deep, and a property named __proto__. */
export function parseStoredJson(text: string): unknown {
  const value = parseJson(text)
  return isPlain(value, MAX_DEPTH) ? value : undefined
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0 || Object.hasOwn(value, '__proto__')) return false
  for (const child of Array.isArray(value) ? value : Object.values(value)) if (!isPlain(child, depth - 1)) return false
  return true
}

/** Tolerance for future times in the bucket, because clocks differ and days are whole. */
const TOLERANCE_MILLISECONDS = 86_400_000

/** True for a future or invalid date. */
export const isFuture = (at: Date, now: Date): boolean => !(at.getTime() <= now.getTime() + TOLERANCE_MILLISECONDS)
