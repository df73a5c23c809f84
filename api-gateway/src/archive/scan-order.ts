import type { Line, SegmentName } from '@tintype/crds/archive'
import type { ScanDirection } from '../store/ports.ts'

/** What reading in one order means for ids, segments and lines. */
export interface ScanOrder {
  /** Whether an id comes before another. */
  isBefore: (id: string, other: string) => boolean
  /** The id of a segment that comes first, and last. */
  startOf: (segment: SegmentName) => string
  endOf: (segment: SegmentName) => string
  /** Lines, or whatever lies newest first, as they are read. */
  arrange: <T = Line>(entries: readonly T[]) => readonly T[]
}

/** Both ways. */
export const SCAN_ORDERS: Readonly<Record<ScanDirection, ScanOrder>> = {
  newest: {
    isBefore: (id, other) => id < other,
    startOf: ({ first }) => first,
    endOf: ({ last }) => last,
    arrange: (entries) => entries,
  },
  oldest: {
    isBefore: (id, other) => id > other,
    startOf: ({ last }) => last,
    endOf: ({ first }) => first,
    arrange: (entries) => entries.toReversed(),
  },
}
