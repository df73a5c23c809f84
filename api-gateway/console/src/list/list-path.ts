import type { Collection } from '../api/captures.ts'
import { keep, recall } from '../ui/kept.ts'

const keyOf = (collection: Collection): string => `filter of ${collection}`

/** Remembers the filters of a list, so that a record leads back to the same list. */
export const keepFilter = (collection: Collection, filter: string): void => keep(keyOf(collection), filter)

/** The list with the filters that it had last. */
export function listPath(collection: Collection): string {
  const filter = recall<string>(keyOf(collection)) ?? ''
  return filter === '' ? collection : `${collection}?${filter}`
}
