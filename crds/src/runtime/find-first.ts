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
