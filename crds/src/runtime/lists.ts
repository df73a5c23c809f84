/**
 * Maps items with at most `limit` calls at a time. Results are in the order of the items. After the first failure no further call starts.
 * @throws that failure
 */
export async function mapConcurrently<In, Out>(
  items: readonly In[],
  limit: number,
  map: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = []
  const entries = items.entries()
  let hasFailed = false
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (hasFailed) return
      results[index] = await map(item, index).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  return results
}

/** Binary search: the index of the first item that satisfies `isBeyond`, which must be false before that item and true from it on. */
export function findFirst<T>(items: readonly T[], isBeyond: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBeyond(items[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}
