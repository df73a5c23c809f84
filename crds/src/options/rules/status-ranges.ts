import { z } from 'zod'
import { type Facts, list } from './declare.ts'

// Ranges of HTTP statuses in options, such as 404 and 500-511.

/** Maximum entries of a list. */
const MAX_RANGES = 20

const Range = z
  .string()
  .max(7)
  .regex(/^[1-5][0-9]{2}(-[1-5][0-9]{2})?$/)

/** Declares a list of ranges. */
export const statusRanges = (own: Facts<string[]>) => list(Range, MAX_RANGES, own)

/** A range of HTTP statuses, both ends included. */
export interface StatusRange {
  from: number
  to: number
}

/** `404`, `500-511`. */
export function toStatusRange(text: string): StatusRange {
  const [from = 0, to = from] = text.split('-').map(Number)
  return { from, to }
}

/** False for a range that is empty, such as `511-500`. */
export const isStatusRange = (text: string): boolean => {
  const { from, to } = toStatusRange(text)
  return from <= to
}

/** Whether a status is in one of the ranges. */
export const isStatusIn = (status: number, ranges: readonly StatusRange[]): boolean =>
  ranges.some(({ from, to }) => status >= from && status <= to)
