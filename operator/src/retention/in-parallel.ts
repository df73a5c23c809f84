/** Acts on all items, at most `limit` at a time. After the first failure none is begun any more. @throws that failure */
export async function inParallel<T>(items: readonly T[], limit: number, act: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  let hasFailed = false
  const work = async () => {
    for (const item of rest) {
      if (hasFailed) return
      await act(item).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
}
