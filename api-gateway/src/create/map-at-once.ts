/** Maps with at most `atOnce` calls under way; results in the order of the items. The first rejection ends it. */
export async function mapAtOnce<In, Out>(
  items: readonly In[],
  atOnce: number,
  map: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = []
  const todo = items.entries()
  const work = async (): Promise<void> => {
    for (const [index, item] of todo) results[index] = await map(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  return results
}
