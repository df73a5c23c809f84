/** Sorts numbers in ascending order. */
const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)

/** The percentile (0 to 100), with linear interpolation. NaN for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  const ascending = sorted(values)
  const place = (Math.min(100, Math.max(0, percent)) / 100) * (ascending.length - 1)
  const below = ascending[Math.floor(place)]
  const above = ascending[Math.ceil(place)]
  if (below === undefined || above === undefined) return Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** The median. NaN for an empty list. */
export const median = (values: readonly number[]): number => percentile(values, 50)

/** The 95th percentile. NaN for an empty list. */
export const p95 = (values: readonly number[]): number => percentile(values, 95)

/** Summarizes durations in milliseconds. */
export const summarize = (values: readonly number[]) => ({
  p50: median(values),
  p95: p95(values),
})
