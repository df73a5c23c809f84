import type { Line } from '@tintype/crds/records/archive'
import type { SegmentName } from '@tintype/crds/records/storage-keys'
import type { ScanDirection } from '../store/ports.ts'

/** How ids, segments and lines are compared and sorted in one direction. */
export interface ScanOrder {
  /** True when an id comes before another. */
  isBefore: (id: string, other: string) => boolean
  /** First and last id of a segment in this order. */
  startOf: (segment: SegmentName) => string
  endOf: (segment: SegmentName) => string
  /** Sorts entries that are stored newest first. */
  sort: <T = Line>(entries: readonly T[]) => readonly T[]
}

/** The order for each direction. */
export const SCAN_ORDERS: Readonly<Record<ScanDirection, ScanOrder>> = {
  newest: {
    isBefore: (id, other) => id < other,
    startOf: ({ first }) => first,
    endOf: ({ last }) => last,
    sort: (entries) => entries,
  },
  oldest: {
    isBefore: (id, other) => id > other,
    startOf: ({ last }) => last,
    endOf: ({ first }) => first,
    sort: (entries) => entries.toReversed(),
  },
}
