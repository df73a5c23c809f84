import { type Collection, NOUNS } from '../api/captures.ts'
import { formatNumber } from '../format/text.ts'

interface ListState {
  isLoading: boolean
  hasMore: boolean
  isFiltered: boolean
}

/** The line below a list: how many captures it has, or why it has none. */
export function describeEnd(count: number, collection: Collection, { isLoading, hasMore, isFiltered }: ListState): string {
  if (isLoading || hasMore) return 'Loading…'
  const { one, many } = NOUNS[collection]
  if (count > 0) return count === 1 ? `One ${one}` : `${formatNumber(count)} ${many}`
  return isFiltered ? `No ${one} matches the filters.` : `No ${many} yet. The playground makes the first one.`
}
