/**
 * Maps items with at most `limit` calls at a time. Results are in the order of the items. Rejects with the first error; the other calls still start, unlike
 * those of `mapConcurrently` in crds: a batch is created as far as possible.
 */
export async function mapConcurrently<In, Out>(
  items: readonly In[],
  limit: number,
  map: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = []
  const entries = items.entries()
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await map(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  return results
}
