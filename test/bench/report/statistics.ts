/** Sorted ascending, as numbers. */
const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)

/** The value that `percent` (0 to 100) of the values do not exceed, between two of them by straight line. NaN for none. */
export function percentile(values: readonly number[], percent: number): number {
  const ascending = sorted(values)
  const place = (Math.min(100, Math.max(0, percent)) / 100) * (ascending.length - 1)
  const below = ascending[Math.floor(place)]
  const above = ascending[Math.ceil(place)]
  if (below === undefined || above === undefined) return Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** The value in the middle. NaN for none. */
export const median = (values: readonly number[]): number => percentile(values, 50)

/** What a list of durations comes to, in milliseconds. */
export interface Summary {
  count: number
  p50: number
  p95: number
}

/** Summarizes durations. */
export const summarize = (values: readonly number[]): Summary => ({
  count: values.length,
  p50: median(values),
  p95: percentile(values, 95),
})
